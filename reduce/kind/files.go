package kind

import "strings"

// sourceExts are the endings of files that people edit by hand, each with a
// leading dot and a trailing space.
const sourceExts = ".go .py .pyi .js .jsx .mjs .cjs .ts .tsx .java .kt .kts .scala .groovy .gradle .clj .c .h .cc .cpp .cxx .hpp .hh .cs .fs .vb " +
	".rs .rb .php .swift .m .mm .lua .pl .pm .r .jl .dart .ex .exs .erl .hs .ml .mli .el .lisp .vim .sh .bash .zsh .fish .ps1 .bat .sql " +
	".html .htm .css .scss .sass .less .vue .svelte .xml .xsd .proto .graphql .tf .hcl .yaml .yml .toml .ini .cfg .conf .properties .env " +
	".md .rst .adoc .tex .mk .cmake .bzl .feature .ipynb .patch .j2 .tmpl .asm .s "

const sourceNames = " makefile dockerfile jenkinsfile vagrantfile gemfile rakefile procfile go.mod go.sum package.json tsconfig.json " +
	"composer.json pyproject.toml requirements.txt cmakelists.txt license readme .gitignore .dockerignore .editorconfig .bashrc .profile codeowners "

// sourceFile says whether the path names text that people edit, as against logs
// and data.
func sourceFile(path string) bool {
	name := baseName(path)
	if name == "" || strings.ContainsAny(name, " *?$`") {
		return false
	}
	if strings.Contains(sourceNames, " "+name+" ") {
		return true
	}
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && strings.Contains(sourceExts, name[dot:]+" ")
}

// shellRead recognises a command whose whole output is (part of) one source file.
func shellRead(command string) (string, bool) {
	path := ""
	for _, s := range split(command) {
		if s.out != "" {
			return "", false
		}
		switch s.name() {
		case "cd", "set", "export", "source", "pwd":
			continue
		}
		p, ok := readStep(s)
		if !ok || (p != "" && path != "" && p != path) {
			return "", false
		}
		if p != "" {
			path = p
		}
	}
	return path, path != "" && sourceFile(path)
}

// readStep says whether one simple command only shows text of a file or of its
// input, and which file.
func readStep(s simple) (path string, ok bool) {
	args := s.args()
	switch s.name() {
	case "cat", "nl", "bat", "less", "more", "open", "type", "get-content":
	case "head", "tail":
		args = dropNumbers(s)
	case "sed":
		if !s.has("-n") || len(args) == 0 || s.has("-i") || strings.Trim(args[0], "0123456789,$p;+ ") != "" {
			return "", false
		}
		args = args[1:]
	case "echo", "printf":
		return "", !s.piped
	default:
		return "", false
	}
	if s.name() == "open" && len(args) == 2 {
		args = args[:1]
	}
	switch {
	case len(args) == 1 && !s.piped:
		return args[0], true
	case len(args) == 0 && s.piped:
		return "", true
	}
	return "", false
}

// dropNumbers gives the file arguments of head and tail, whose counts may stand
// as a word of their own.
func dropNumbers(s simple) []string {
	var out []string
	for i, w := range s.words[1:] {
		prev := s.words[i]
		if w == "" || w[0] == '-' || ((prev == "-n" || prev == "-c") && strings.Trim(w, "+0123456789") == "") {
			continue
		}
		if w[0] == '+' {
			continue
		}
		out = append(out, w)
	}
	return out
}

// shellWrite recognises a command that writes a file.
func shellWrite(command string) (string, bool) {
	for _, s := range split(command) {
		args := s.args()
		switch {
		case s.out != "" && !strings.HasPrefix(s.out, "/dev/"):
			return s.out, true
		case s.name() == "tee" && len(args) > 0:
			return args[0], true
		case s.name() == "sed" && hasInPlace(s) && len(args) > 1:
			return args[len(args)-1], true
		case s.name() == "patch" || s.name() == "edit" || s.name() == "apply_patch":
			return "", true
		case s.name() == "create" && len(args) == 1:
			return args[0], true
		case (s.name() == "mv" || s.name() == "cp") && len(args) > 1:
			return args[len(args)-1], true
		}
	}
	return "", false
}

func hasInPlace(s simple) bool {
	for _, w := range s.words {
		if strings.HasPrefix(w, "-i") || w == "--in-place" {
			return true
		}
	}
	return false
}
