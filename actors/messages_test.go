package actors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func everyMessage() []Message {
	return []Message{
		&ReduceTurn{}, TurnReduced{}, &AbandonTurn{}, &CompileTurn{}, &TurnCompiled{}, &PinEvidence{},
		&EvidencePinned{}, &AcceptForms{}, &FormsAccepted{}, &LoadForms{}, &FormsLoaded{}, &CloseSession{},
		&SessionClosed{}, &RecordTurn{}, &ExpireTurn{}, &IdleSession{}, &RetireSession{}, &FlushPins{},
		&StorageClosed{}, &DrainSessions{},
	}
}

func nameOf(m Message) string {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func sorted(s []string) []string { slices.Sort(s); return s }

// boundTypes are the types of messages.go that have a Bound method.
func boundTypes(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "messages.go", nil, 0)
	require.NoError(t, err)
	var names []string
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Bound" {
			continue
		}
		kind := f.Recv.List[0].Type
		if star, ok := kind.(*ast.StarExpr); ok {
			kind = star.X
		}
		names = append(names, kind.(*ast.Ident).Name)
	}
	return names
}

// row is one line of the table in doc.go.
type row struct{ name, answer string }

func table(t *testing.T) []row {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	require.NoError(t, err)
	line := regexp.MustCompile(`^([A-Z]\w+)\s+(\S.*\S)$`)
	var rows []row
	for _, text := range strings.Split(file.Doc.Text(), "\n") {
		m := line.FindStringSubmatch(strings.TrimPrefix(text, "\t"))
		if m == nil || !strings.HasPrefix(text, "\t") {
			continue
		}
		r := row{name: m[1]}
		for _, other := range everyMessage() {
			if n := nameOf(other); n != r.name && strings.Contains(" "+m[2]+" ", " "+n+" ") {
				r.answer = n
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func TestTableAndMessagesAgree(t *testing.T) {
	t.Parallel()
	var listed, known []string
	for _, r := range table(t) {
		listed = append(listed, r.name)
	}
	for _, m := range everyMessage() {
		known = append(known, nameOf(m))
	}
	require.Equal(t, sorted(known), sorted(boundTypes(t)), "messages.go and everyMessage")
	require.Equal(t, sorted(known), sorted(listed), "messages.go and the table in doc.go")
}

func TestCommandsAreVerbFirstAndAnswersThePastOfTheSameWords(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"ReduceTurn": "TurnReduced", "CompileTurn": "TurnCompiled", "PinEvidence": "EvidencePinned",
		"AcceptForms": "FormsAccepted", "LoadForms": "FormsLoaded", "CloseSession": "SessionClosed",
	}
	for _, r := range table(t) {
		require.NotRegexp(t, `(Msg|Request|Response|Event)$`, r.name)
		if answer, ok := want[r.name]; ok {
			require.Equal(t, answer, r.answer, r.name)
		}
	}
}

func TestMessagesBeginWithTheirBindingAndHaveNoSpecialMeaningToTheLibrary(t *testing.T) {
	t.Parallel()
	b := turn.Binding{Engine: "e", Home: "h", Session: "s", Generation: 1, Turn: 2, Attempt: 3}
	for _, m := range everyMessage() {
		v := reflect.ValueOf(m)
		kind := v.Type()
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		require.Equal(t, "Binding", kind.Field(0).Name, kind.Name())
		fresh := reflect.New(kind)
		fresh.Elem().Field(0).Set(reflect.ValueOf(b))
		require.Equal(t, b, fresh.Interface().(Message).Bound(), kind.Name())
		if _, ok := any(m).(actor.MessageBatch); ok {
			t.Errorf("%s would be delivered twice", kind.Name())
		}
		if _, ok := any(m).(actor.AutoRespond); ok {
			t.Errorf("%s would be answered by the library", kind.Name())
		}
	}
}
