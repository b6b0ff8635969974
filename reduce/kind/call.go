package kind

import (
	"encoding/json"
	"strings"
)

// Call is the tool call that produced a result.
type Call struct {
	Tool string // name of the tool, "" unknown
	Args string // raw JSON arguments, may be broken or empty
}

// maxArgs bounds what is parsed of the arguments, in bytes. Longer ones are whole
// files on their way to a write tool; their command or path is not looked for.
const maxArgs = 4 << 20

// fields gives the arguments as an object; a bare string or list stands under "".
func (c Call) fields() map[string]any {
	if len(c.Args) == 0 || len(c.Args) > maxArgs {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(c.Args), &v) != nil {
		return nil
	}
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{"": v}
}

// tool gives the tool's name in lower case, without a server prefix such as
// "functions." or "mcp__files__".
func (c Call) tool() string {
	name := strings.ToLower(c.Tool)
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+2:]
	}
	if i := strings.LastIndexAny(name, "./:"); i >= 0 {
		name = name[i+1:]
	}
	return name
}

var shellTools = map[string]bool{
	"bash": true, "sh": true, "zsh": true, "shell": true, "terminal": true, "exec": true, "cmd": true, "powershell": true,
	"run": true, "command": true, "execute": true, "console": true,
}

// shell says whether the tool runs shell commands.
func (c Call) shell() bool {
	name := c.tool()
	if shellTools[name] {
		return true
	}
	if strings.Contains(name, "python") || strings.Contains(name, "sql") {
		return false
	}
	for _, w := range [...]string{"bash", "shell", "terminal", "run_command", "exec_command", "execute_command", "runcommand", "run_cmd", "execute_cmd"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return name == "" && c.Args != ""
}

// Command gives the shell command of the call, "" when it has none. It knows a
// string, a list of words, {"bash","-lc",script} lists, and objects with a
// command, cmd, code or script member holding one of these.
func (c Call) Command() string {
	if !c.shell() {
		return ""
	}
	m := c.fields()
	for _, key := range [...]string{"command", "cmd", "script", "code", "commands", "input", ""} {
		if s := commandOf(m[key], 0); s != "" {
			return s
		}
	}
	return ""
}

func commandOf(v any, depth int) string {
	switch x := v.(type) {
	case string:
		return x
	case []any:
		words := make([]string, 0, len(x))
		for _, e := range x {
			s, ok := e.(string)
			if !ok {
				return ""
			}
			words = append(words, s)
		}
		if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") && shellTools[baseName(words[0])] {
			return words[2]
		}
		return strings.Join(words, " ")
	case map[string]any:
		if depth > 1 {
			return ""
		}
		for _, key := range [...]string{"command", "cmd"} {
			if s := commandOf(x[key], depth+1); s != "" {
				return s
			}
		}
	}
	return ""
}

var pathKeys = [...]string{"file_path", "path", "filename", "file", "target_file", "absolute_path", "filePath", "relative_path", "notebook_path", "file_name", "uri"}

// path gives the path argument of a file tool.
func (c Call) path() string {
	m := c.fields()
	for _, key := range pathKeys {
		if s, ok := m[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

var readTools = map[string]bool{
	"read": true, "read_file": true, "readfile": true, "view": true, "view_file": true, "open_file": true, "cat": true,
	"file_read": true, "fs_read": true, "read_text_file": true, "notebookread": true, "open": true,
}

var writeTools = map[string]bool{
	"write": true, "write_file": true, "writefile": true, "edit": true, "edit_file": true, "multiedit": true, "patch": true,
	"apply_patch": true, "create_file": true, "notebookedit": true, "fs_write": true, "file_write": true, "create": true,
	"insert": true, "replace_in_file": true, "write_to_file": true,
}

// editors are tools whose command member says whether they read or write.
func (c Call) editor() (command string, is bool) {
	name := c.tool()
	if !strings.HasPrefix(name, "str_replace") && name != "edit_file_tool" && name != "text_editor" && name != "file_editor" {
		return "", false
	}
	s, _ := c.fields()["command"].(string)
	return s, true
}

// ReadPath says whether the call reads the text of a file that is meant for
// editing, and which (CONTRACTS §9, reads). From a shell these are cat, sed -n,
// head and tail of one source file; a log or a data file is no read.
func (c Call) ReadPath() (path string, read bool) {
	if cmd, ok := c.editor(); ok {
		return c.path(), cmd == "view"
	}
	if readTools[c.tool()] {
		return c.path(), true
	}
	if cmd := c.Command(); cmd != "" {
		return shellRead(cmd)
	}
	return "", false
}

// WritePath says whether the call writes a file, and which; the path is "" when
// it cannot be told.
func (c Call) WritePath() (path string, write bool) {
	if cmd, ok := c.editor(); ok {
		return c.path(), cmd != "view" && cmd != ""
	}
	if writeTools[c.tool()] {
		return c.path(), true
	}
	if cmd := c.Command(); cmd != "" {
		return shellWrite(cmd)
	}
	return "", false
}

// excluded are the tools whose results never change (CONTRACTS §9), by their
// lower-case names; entries ending in * stand for a prefix.
var excluded = [...]string{
	"write_file", "patch", "todo", "memory", "clarify", "delegate_status", "edit", "write", "multiedit", "notebookedit",
	"todowrite", "skill_*", "token_terminator", "token_terminator_*",
}

// Excluded says whether results of the tool are never touched: the fixed list or
// one of extra, which compares without case and may end in * for a prefix.
func Excluded(tool string, extra []string) bool {
	full, short := strings.ToLower(tool), Call{Tool: tool}.tool()
	match := func(pattern string) bool {
		pattern = strings.ToLower(strings.TrimSpace(pattern))
		if p, ok := strings.CutSuffix(pattern, "*"); ok {
			return p != "" && (strings.HasPrefix(full, p) || strings.HasPrefix(short, p))
		}
		return pattern != "" && (full == pattern || short == pattern)
	}
	for _, p := range excluded {
		if match(p) {
			return true
		}
	}
	for _, p := range extra {
		if match(p) {
			return true
		}
	}
	return false
}
