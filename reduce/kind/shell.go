package kind

import "strings"

// simple is one simple command of a shell line.
type simple struct {
	words []string // quotes removed; assignments, sudo, time and the like dropped
	out   string   // target of a > or >> redirection, "" none
	piped bool     // its input is the output of the one before
}

// name gives the command's base name in lower case.
func (s simple) name() string {
	if len(s.words) == 0 {
		return ""
	}
	return baseName(s.words[0])
}

func (s simple) has(flag string) bool {
	for _, w := range s.words {
		if w == flag {
			return true
		}
	}
	return false
}

// args are the words after the name that are no flags.
func (s simple) args() []string {
	var out []string
	for _, w := range s.words[min(1, len(s.words)):] {
		if w != "" && (w[0] != '-' || w == "-") {
			out = append(out, w)
		}
	}
	return out
}

func baseName(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		path = path[i+1:]
	}
	return strings.ToLower(strings.TrimSuffix(path, ".exe"))
}

// maxCommand bounds what is read of a command, in bytes.
const maxCommand = 64 << 10

// split cuts a shell line into its simple commands. It knows quotes, backslashes,
// operators, redirections and here-documents (whose bodies are skipped); it does
// not expand anything.
func split(line string) []simple {
	if len(line) > maxCommand {
		line = line[:maxCommand]
	}
	l := lexer{line: line}
	return l.run()
}

type lexer struct {
	line   string
	pos    int
	out    []simple
	cur    simple
	word   []byte
	inWord bool
	redir  bool     // the next word is the target of > or >>
	skip   bool     // the next word is an input redirection's
	heres  []string // delimiters of here-documents that start after this line
	here   bool     // the next word is such a delimiter
}

func (l *lexer) run() []simple {
	for l.pos < len(l.line) {
		c := l.line[l.pos]
		switch {
		case c == '\\' && l.pos+1 < len(l.line):
			if l.line[l.pos+1] != '\n' {
				l.word, l.inWord = append(l.word, l.line[l.pos+1]), true
			}
			l.pos += 2
		case c == '\'' || c == '"':
			l.quoted(c)
		case c == ' ' || c == '\t' || c == '\r':
			l.endWord()
			l.pos++
		case c == '#' && !l.inWord:
			for l.pos < len(l.line) && l.line[l.pos] != '\n' {
				l.pos++
			}
		case strings.IndexByte("|&;\n()<>", c) >= 0:
			l.operator(c)
		default:
			l.word, l.inWord = append(l.word, c), true
			l.pos++
		}
	}
	l.endCommand(false)
	return l.out
}

func (l *lexer) quoted(q byte) {
	l.inWord = true
	for l.pos++; l.pos < len(l.line); l.pos++ {
		c := l.line[l.pos]
		if c == q {
			l.pos++
			return
		}
		if c == '\\' && q == '"' && l.pos+1 < len(l.line) {
			l.pos++
			c = l.line[l.pos]
		}
		l.word = append(l.word, c)
	}
}

func (l *lexer) operator(c byte) {
	next := byte(0)
	if l.pos+1 < len(l.line) {
		next = l.line[l.pos+1]
	}
	switch {
	case c == '>':
		l.redirection(next)
	case c == '<' && next == '<':
		l.endWord()
		l.here = true
		for l.pos < len(l.line) && (l.line[l.pos] == '<' || l.line[l.pos] == '-') {
			l.pos++
		}
	case c == '<':
		l.endWord()
		l.skip = true
		l.pos++
	case c == '&' && next == '>':
		l.endWord()
		l.pos++
	case c == '\n':
		l.endCommand(false)
		l.pos++
		l.skipHeres()
	default:
		l.endCommand(c == '|' && next != '|')
		l.pos++
		if next == c || (c == '|' && next == '&') {
			l.pos++
		}
	}
}

// redirection reads > and >>; 2>&1 and the like name no file.
func (l *lexer) redirection(next byte) {
	fd := len(l.word) == 1 && l.word[0] >= '0' && l.word[0] <= '9'
	errors := fd && l.word[0] == '2'
	if fd {
		l.word, l.inWord = l.word[:0], false
	}
	l.endWord()
	l.pos++
	if next == '>' {
		l.pos++
	}
	if next == '&' {
		l.pos++
		l.skip = true
		return
	}
	l.redir, l.skip = !errors, errors
}

func (l *lexer) skipHeres() {
	for _, d := range l.heres {
		for l.pos < len(l.line) {
			end := strings.IndexByte(l.line[l.pos:], '\n')
			text := l.line[l.pos:]
			if end >= 0 {
				text = text[:end]
				l.pos += end + 1
			} else {
				l.pos = len(l.line)
			}
			if strings.TrimSpace(text) == d {
				break
			}
		}
	}
	l.heres = nil
}

func (l *lexer) endWord() {
	if !l.inWord {
		return
	}
	w := string(l.word)
	l.word, l.inWord = l.word[:0], false
	switch {
	case l.here:
		l.heres, l.here = append(l.heres, w), false
	case l.skip:
		l.skip = false
	case l.redir:
		l.cur.out, l.redir = w, false
	case len(l.cur.words) == 0 && prefixWord(w):
	default:
		l.cur.words = append(l.cur.words, w)
	}
}

// prefixWord says that w stands before a command without being one.
func prefixWord(w string) bool {
	switch w {
	case "sudo", "time", "nice", "nohup", "env", "command", "exec", "then", "do", "else", "{", "!":
		return true
	}
	eq := strings.IndexByte(w, '=')
	return eq > 0 && !strings.ContainsAny(w[:eq], "/.-")
}

func (l *lexer) endCommand(pipe bool) {
	l.endWord()
	if len(l.cur.words) > 0 || l.cur.out != "" {
		l.out = append(l.out, l.cur)
	}
	l.cur = simple{piped: pipe}
}
