package kind

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tool, args, want string }{
		"a string":                        {"bash", `{"command":"ls -l"}`, "ls -l"},
		"under cmd":                       {"terminal", `{"cmd":"make"}`, "make"},
		"under code":                      {"execute_bash", `{"code":"git log"}`, "git log"},
		"a list of words":                 {"exec_command", `{"command":["go","test","./..."]}`, "go test ./..."},
		"a shell with a script":           {"shell", `{"command":["bash","-lc","cat a.go"]}`, "cat a.go"},
		"an object in an object":          {"local_shell", `{"command":{"command":["ls"]}}`, "ls"},
		"a bare string":                   {"bash", `"pwd"`, "pwd"},
		"a server's prefix":               {"mcp__box__bash", `{"command":"id"}`, "id"},
		"a name with run_command inside":  {"run_command_in_box", `{"command":"id"}`, "id"},
		"an editor has no shell command":  {"str_replace_editor", `{"command":"view","path":"/a.go"}`, ""},
		"a Python tool has none":          {"execute_ipython", `{"code":"print(1)"}`, ""},
		"broken arguments":                {"bash", `{"command":`, ""},
		"numbers in a list":               {"bash", `{"command":[1,2]}`, ""},
		"an endless nest":                 {"bash", `{"command":{"command":{"command":{"command":"x"}}}}`, ""},
		"a search tool that is no shell":  {"Grep", `{"pattern":"x"}`, ""},
		"a tool whose name holds command": {"run_bash_command", `{"command":"kubectl get pods"}`, "kubectl get pods"},
	} {
		require.Equal(t, c.want, Call{c.tool, c.args}.Command(), name)
	}
}

func shellCall(command string) Call {
	return Call{"bash", `{"command":` + quoted(command) + `}`}
}

func quoted(s string) string {
	out := []byte{'"'}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"', '\\':
			out = append(out, '\\', s[i])
		case '\n':
			out = append(out, '\\', 'n')
		default:
			out = append(out, s[i])
		}
	}
	return string(append(out, '"'))
}

func TestShellReads(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cat main.go": "main.go",
		"cd /src && cat -n 'pkg/a b.py' | head -50": "",
		"cd /src && cat -n pkg/ab.py | head -50":    "pkg/ab.py",
		"sed -n '10,40p' x.ts":                      "x.ts",
		"sed -n 1,20p Makefile":                     "Makefile",
		"head -n 40 lib.rs":                         "lib.rs",
		"tail -20 README.md":                        "README.md",
		"open \"src/fields.py\" 1474":               "src/fields.py",
		"nl -ba a.c":                                "a.c",
		"sudo cat /etc/nginx/nginx.conf":            "/etc/nginx/nginx.conf",
		"cat app.log":                               "",
		"cat data.json":                             "",
		"cat package.json":                          "package.json",
		"cat a.go b.go":                             "",
		"cat main.go | grep func":                   "",
		"cat main.go > copy.go":                     "",
		"sed -i s/a/b/ main.go":                     "",
		"cat <<EOF\nhello\nEOF":                     "",
		"go test ./... && cat main.go":              "",
		"head -c 100 main.go":                       "main.go",
		"cat":                                       "",
		"cat 'unclosed.go":                          "unclosed.go",
	} {
		path, read := shellCall(command).ReadPath()
		require.Equal(t, want != "", read, command)
		if read {
			require.Equal(t, want, path, command)
		}
	}
}

func TestReadAndWriteTools(t *testing.T) {
	t.Parallel()
	path, read := Call{"Read", `{"file_path":"/a/b.log","offset":3}`}.ReadPath()
	require.True(t, read)
	require.Equal(t, "/a/b.log", path)
	path, read = Call{"str_replace_editor", `{"command":"view","path":"/a.py"}`}.ReadPath()
	require.True(t, read)
	require.Equal(t, "/a.py", path)
	_, read = Call{"str_replace_editor", `{"command":"create","path":"/a.py"}`}.ReadPath()
	require.False(t, read)
	path, write := Call{"str_replace_editor", `{"command":"create","path":"/a.py"}`}.WritePath()
	require.True(t, write)
	require.Equal(t, "/a.py", path)
	_, write = Call{"Edit", `{"file_path":"x"}`}.WritePath()
	require.True(t, write)
	_, read = Call{"get_user", `{"path":"x"}`}.ReadPath()
	require.False(t, read)
}

func TestShellWrites(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cat > a.py <<'EOF'\nprint(1) > b\nEOF": "a.py",
		"echo x >> notes.md":                    "notes.md",
		"make 2>&1 | tee build.log":             "build.log",
		"sed -i.bak 's/a/b/' src/x.c":           "src/x.c",
		"mv a b":                                "b",
		"ls 2>/dev/null":                        "",
		"go test ./... > /dev/null":             "",
		"grep -rn a . 2>errors.txt":             "",
	} {
		path, write := shellCall(command).WritePath()
		require.Equal(t, want != "", write, command)
		require.Equal(t, want, path, command)
	}
}

func TestExcluded(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]bool{
		"write_file": true, "patch": true, "Edit": true, "NotebookEdit": true, "TodoWrite": true, "skill_view": true, "mcp__x__write_file": true,
		"token_terminator": true, "bash": false, "todos": false, "read_file": false, "": false, "ledger_query": true, "LEDGER_Q": true, "secret": true,
	} {
		require.Equal(t, want, Excluded(tool, []string{"ledger_*", "Secret", ""}), tool)
	}
}

func FuzzCall(f *testing.F) {
	f.Add("bash", `{"command":"cat a.go | head -3 > x <<EOF"}`)
	f.Add("str_replace_editor", `{"command":"view"}`)
	f.Add("shell", `["bash","-lc","a 'b"]`)
	f.Fuzz(func(t *testing.T, tool, args string) {
		c := Call{tool, args}
		c.Command()
		c.ReadPath()
		c.WritePath()
		Excluded(tool, []string{args})
		shellRead(args)
		shellWrite(args)
	})
}
