-- Neovim 0.11 and newer: its own client, which asks for diagnostics. Writes what it saw as one line of JSON.
local folder, command = vim.env.WORKSPACE, vim.json.decode(vim.env.SERVER)
local seen = { version = tostring(vim.version()) }

local function diagnostics(buffer)
  return vim.tbl_map(function(one)
    local text = vim.api.nvim_buf_get_text(buffer, one.lnum, one.col, one.end_lnum, one.end_col, {})
    return { code = one.code, message = one.message, severity = one.severity, line = one.lnum, text = table.concat(text, "\n") }
  end, vim.diagnostic.get(buffer))
end

local function has(buffer, code)
  return #vim.tbl_filter(function(one) return one.code == code end, vim.diagnostic.get(buffer)) > 0
end

vim.lsp.config("tritonlint", { cmd = command, filetypes = { "python" }, root_dir = folder })
vim.lsp.enable("tritonlint")
for _, name in ipairs({ "warps", "emoji" }) do
  vim.cmd.edit(folder .. "/" .. name .. ".py")
  vim.bo.filetype = "python"
  local buffer = vim.api.nvim_get_current_buf()
  vim.wait(60000, function() return has(buffer, "TL204") end, 50)
  seen[name] = diagnostics(buffer)
end
local client = vim.lsp.get_clients({ name = "tritonlint" })[1]
seen.encoding = client.offset_encoding
seen.pulls = client.server_capabilities.diagnosticProvider ~= nil

-- The first fix at the finding of the first file, as a user applies it.
vim.cmd.buffer(vim.fn.bufnr("warps.py"))
local buffer = vim.api.nvim_get_current_buf()
local finding = vim.tbl_filter(function(one) return one.code == "TL204" end, vim.diagnostic.get(buffer))[1]
vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return action.title:find("num_warps=", 1, true) == 1 end,
})
vim.wait(60000, function() return not has(buffer, "TL204") end, 50)
seen.fixed = vim.api.nvim_buf_get_lines(buffer, finding.lnum, finding.lnum + 1, false)[1]
seen.left = has(buffer, "TL204")
io.stdout:write(vim.json.encode(seen) .. "\n")
vim.cmd("qa!")
