package kind

import "strings"

// hintOf guesses from the command's words what its output will be, "" when they
// say nothing. The last command of the line that prints decides.
func hintOf(command, tool string) Kind {
	if command == "" {
		return toolHint(tool)
	}
	hint := Kind("")
	for _, s := range split(command) {
		if k := programHint(s); k != "" {
			hint = k
		}
	}
	return hint
}

func toolHint(tool string) Kind {
	switch {
	case strings.Contains(tool, "grep"), strings.Contains(tool, "search_dir"), strings.Contains(tool, "search_file"), strings.Contains(tool, "search_code"):
		return Search
	case tool == "glob" || tool == "ls" || strings.HasPrefix(tool, "list_") || strings.Contains(tool, "find_file"):
		return Listing
	case strings.Contains(tool, "logs"):
		return Log
	}
	return ""
}

var programs = map[string]Kind{
	"grep": Search, "egrep": Search, "rg": Search, "ag": Search, "ack": Search, "search_dir": Search, "search_file": Search,
	"ls": Listing, "find": Listing, "tree": Listing, "du": Listing, "wc": Listing, "fd": Listing, "find_file": Listing,
	"pytest": Test, "py.test": Test, "jest": Test, "vitest": Test, "mocha": Test, "gotestsum": Test, "phpunit": Test, "rspec": Test, "tox": Test, "nose2": Test, "ctest": Test,
	"make": Build, "cmake": Build, "gcc": Build, "g++": Build, "clang": Build, "javac": Build, "tsc": Build, "eslint": Build, "mvn": Build, "mvnw": Build,
	"gradle": Build, "gradlew": Build, "pip": Build, "pip3": Build, "npm": Build, "yarn": Build, "pnpm": Build, "apt-get": Build, "apt": Build, "ninja": Build, "bazel": Build, "rustc": Build, "flake8": Build, "mypy": Build, "ruff": Build, "golangci-lint": Build, "staticcheck": Build,
	"journalctl": Log, "dmesg": Log, "diff": Diff, "ps": Table, "top": Table, "df": Table,
}

func programHint(s simple) Kind {
	name, sub := s.name(), ""
	if args := s.args(); len(args) > 0 {
		sub = args[0]
	}
	switch name {
	case "git":
		return gitHint(sub)
	case "go":
		return goHint(sub)
	case "cargo", "dotnet", "swift", "npm", "yarn", "pnpm", "mvn", "mvnw", "gradle", "gradlew", "make":
		if strings.HasPrefix(sub, "test") || sub == "t" || s.has("test") || s.has("verify") || s.has("check") {
			return Test
		}
		if name == "cargo" || name == "dotnet" || name == "swift" {
			return Build
		}
	case "kubectl", "docker", "oc", "podman", "docker-compose":
		if s.has("logs") {
			return Log
		}
		if s.has("build") {
			return Build
		}
		return ""
	case "python", "python3", "uv", "poetry", "npx", "node":
		return wrappedHint(s.words[1:])
	case "tail", "cat":
		for _, a := range s.args() {
			if strings.HasSuffix(a, ".log") || strings.Contains(a, "/log/") {
				return Log
			}
		}
		return ""
	}
	return programs[name]
}

func gitHint(sub string) Kind {
	switch sub {
	case "grep":
		return Search
	case "diff", "show":
		return Diff
	case "ls-files", "ls-tree", "status":
		return Listing
	}
	return ""
}

func goHint(sub string) Kind {
	switch sub {
	case "test":
		return Test
	case "build", "vet", "install", "get", "mod":
		return Build
	}
	return ""
}

// wrappedHint looks for the program that an interpreter or a runner starts.
func wrappedHint(words []string) Kind {
	for _, w := range words {
		if k := programs[baseName(w)]; k == Test || k == Build {
			return k
		}
		if w == "unittest" || strings.Contains(w, "runtests") {
			return Test
		}
	}
	return ""
}
