package request

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// uses is an Anthropic assistant message that makes one call for each id.
func uses(ids ...string) string {
	blocks := []string{`{"type":"text","text":"t"}`}
	for _, id := range ids {
		blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
	}
	return `{"role":"assistant","content":[` + join(blocks...) + `]}`
}

// answers is a user message of one result for each id; "+" is a text block.
func answers(ids ...string) string {
	var blocks []string
	for _, id := range ids {
		if id == "+" {
			blocks = append(blocks, `{"type":"text","text":"t"}`)
			continue
		}
		blocks = append(blocks, `{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}`)
	}
	return `{"role":"user","content":[` + join(blocks...) + `]}`
}

// B5: blocks of the Messages API keep their partners, results stand first.
func TestB5AnthropicPairing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages string
		reason   turn.Reason
	}{
		"one user message":                 {join(user), ""},
		"adjacent user messages":           {join(user, user, said), ""},
		"a call and its result":            {join(user, uses("a"), answers("a"), said), ""},
		"results and words behind them":    {join(user, uses("a", "b"), answers("b", "a", "+"), said), ""},
		"an id used again":                 {join(user, uses("a"), answers("a"), uses("a"), answers("a")), ""},
		"one id twice in one message":      {join(user, uses("a", "a"), answers("a", "a")), ""},
		"a user message after results":     {join(user, uses("a"), answers("a"), user), ""},
		"words before a result":            {join(user, uses("a"), answers("+", "a"), said), turn.PairingBroken},
		"words between results":            {join(user, uses("a", "b"), answers("a", "+", "b"), said), turn.PairingBroken},
		"an assistant message first":       {join(said, user), turn.RoleOrder},
		"a result first":                   {join(answers("a"), said), turn.RoleOrder},
		"a call without a result":          {join(user, uses("a"), user), turn.PairingBroken},
		"a call half answered":             {join(user, uses("a", "b"), answers("a"), said), turn.PairingBroken},
		"a call answered a message later":  {join(user, uses("a"), user, answers("a")), turn.PairingBroken},
		"results in two messages":          {join(user, uses("a", "b"), answers("a"), answers("b")), turn.PairingBroken},
		"another id":                       {join(user, uses("a"), answers("b")), turn.PairingBroken},
		"a second answer":                  {join(user, uses("a"), answers("a", "a")), turn.PairingBroken},
		"an answer without a call":         {join(user, said, answers("a")), turn.PairingBroken},
		"an assistant message after calls": {join(user, uses("a"), said), turn.PairingBroken},
		"calls open at the end":            {join(user, uses("a")), turn.PairingBroken},
		"a result of the assistant's":      {join(user, uses("a"), strings.Replace(answers("a"), "user", "assistant", 1)), turn.PairingBroken},
		"a call of the user's":             {join(user, strings.Replace(uses("a"), "assistant", "user", 1), answers("a")), turn.PairingBroken},
		"an unknown role":                  {join(user, `{"role":"narrator","content":"x"}`), turn.UnknownShape},
		"no messages":                      {``, turn.UnknownShape},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := parseAs(t, Anthropic, messagesAPI(c.messages)).Check()
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
		})
	}
}

func callItem(id string) string {
	return `{"type":"function_call","call_id":"` + id + `","name":"f","arguments":"{}"}`
}

func outputItem(id string) string {
	return `{"type":"function_call_output","call_id":"` + id + `","output":"r"}`
}

// B16: items pair by their call ids; a message may lack its type.
func TestB16ResponsesPairing(t *testing.T) {
	t.Parallel()
	const reasoning = `{"type":"reasoning","encrypted_content":"e"}`
	custom := strings.NewReplacer("function_call", "custom_tool_call", `"arguments"`, `"input"`)
	for name, c := range map[string]struct {
		items  string
		reason turn.Reason
	}{
		"one message without a type":     {join(user), ""},
		"a call and its output":          {join(user, reasoning, callItem("a"), outputItem("a"), said), ""},
		"a call first":                   {join(callItem("a"), outputItem("a")), ""},
		"parallel calls in other order":  {join(user, callItem("a"), callItem("b"), outputItem("b"), outputItem("a")), ""},
		"messages between":               {join(user, callItem("a"), said, system, outputItem("a")), ""},
		"an id used again":               {join(user, callItem("a"), outputItem("a"), callItem("a"), outputItem("a")), ""},
		"one id twice":                   {join(user, callItem("a"), callItem("a"), outputItem("a"), outputItem("a")), ""},
		"custom tools":                   {join(user, custom.Replace(callItem("a")), custom.Replace(outputItem("a"))), ""},
		"outputs of hosted tools":        {join(user, `{"type":"computer_call","call_id":"z"}`, `{"type":"computer_call_output","call_id":"y"}`), ""},
		"an output first":                {join(outputItem("a"), user), turn.RoleOrder},
		"an output after instructions":   {join(system, outputItem("a")), turn.RoleOrder},
		"an output before its call":      {join(user, outputItem("a"), callItem("a")), turn.PairingBroken},
		"another id":                     {join(user, callItem("a"), outputItem("b")), turn.PairingBroken},
		"a second output":                {join(user, callItem("a"), outputItem("a"), outputItem("a")), turn.PairingBroken},
		"a call without an output":       {join(user, callItem("a"), callItem("b"), outputItem("a"), said), turn.PairingBroken},
		"calls open at the end":          {join(user, callItem("a")), turn.PairingBroken},
		"a custom output of a function":  {join(user, callItem("a"), custom.Replace(outputItem("a"))), turn.PairingBroken},
		"a function's output of another": {join(user, custom.Replace(callItem("a")), outputItem("a")), turn.PairingBroken},
		"an unknown role":                {join(user, `{"role":"tool","content":"x"}`), turn.UnknownShape},
		"neither type nor role":          {join(user, `{"content":"x"}`), turn.UnknownShape},
		"no items":                       {``, turn.UnknownShape},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := parseAs(t, Responses, responses(c.items)).Check()
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
		})
	}
}

func TestPairingIsCheckedAgainAfterAnEdit(t *testing.T) {
	t.Parallel()
	for _, d := range []*Doc{
		parseAs(t, Anthropic, messagesAPI(join(user, uses("a"), answers("a", "+")))),
		parseAs(t, Responses, responses(join(user, callItem("a"), outputItem("a")))),
	} {
		i := 2
		out, err := d.Apply([]turn.Edit{edit(d.Pointer(i, d.Results(i)[0].Texts[0].Block), "r", `","type":"tool_use`)})
		require.NoError(t, err)
		after := parseAs(t, d.Dialect, out)
		require.NoError(t, after.Check())
		require.Len(t, after.Messages, len(d.Messages))
		require.Equal(t, d.Results(i)[0].CallID, after.Results(i)[0].CallID)
	}
}

func TestDigestOfDialectsIgnoresCacheMarksOnly(t *testing.T) {
	t.Parallel()
	mark := `,"cache_control":{"type":"ephemeral"}`
	point := `,"prompt_cache_breakpoint":{"mode":"explicit"}`
	result := func(content, mark string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + content + mark + `}]}`
	}
	item := func(output string) string {
		return `{"type":"function_call_output","call_id":"a","output":` + output + `}`
	}
	anthropic := func(m string) turn.Digest { return parseAs(t, Anthropic, messagesAPI(m)).Digest(0) }
	items := func(m string) turn.Digest { return parseAs(t, Responses, responses(m)).Digest(0) }
	for name, c := range map[string]struct {
		digest func(string) turn.Digest
		same   []string
		other  []string
	}{
		"a result": {
			anthropic,
			[]string{
				result(`"x"`, ``), result(`"x"`, mark), result(`[{"type":"text","text":"x"}]`, ``), result(`[{"type":"text","text":"x"`+mark+`}]`, mark),
				` { "content":[ { "content" : "\u0078", "type":"tool_result","tool_use_id":"a"}],"role":"user"}`,
			},
			[]string{
				result(`"y"`, ``), result(`[{"type":"text","text":"x"},{"type":"text","text":"x"}]`, ``), result(`[{"type":"text","text":"x","citations":[]}]`, ``),
				result(`"x"`, `,"is_error":true`), result(`[]`, ``), result(`[{"type":"image","text":"x"}]`, ``), strings.Replace(result(`"x"`, ``), `"a"`, `"b"`, 1),
			},
		},
		"a call": {
			anthropic,
			[]string{
				`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"cache_control":1}}]}`,
				`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"cache_control":1}` + mark + `}]}`,
			},
			[]string{`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`},
		},
		"thinking": {
			anthropic,
			[]string{`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}`},
			[]string{`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"other"}]}`},
		},
		"an output": {
			items,
			[]string{item(`"x"`), item(`[{"type":"input_text","text":"x"}]`), item(`[{"type":"input_text","text":"x"` + point + `}]`), item(`[{"type":"output_text","text":"x"}]`)},
			[]string{item(`"y"`), item(`[{"type":"input_image","text":"x"}]`), item(`[{"type":"input_text","text":"x"},{"type":"input_text","text":""}]`), item(`[]`)},
		},
		"a message item": {
			items,
			[]string{`{"role":"user","content":"x"}`, `{"role":"user","content":[{"type":"input_text","text":"x"` + point + `}]}`},
			[]string{`{"role":"user","content":"y"}`, `{"role":"assistant","content":"x"}`},
		},
	} {
		want := c.digest(c.same[0])
		for _, m := range c.same {
			require.Equal(t, want, c.digest(m), "%s: %s", name, m)
		}
		for _, m := range c.other {
			require.NotEqual(t, want, c.digest(m), "%s: %s", name, m)
		}
	}
}

func TestChainsOfDialectsExtend(t *testing.T) {
	t.Parallel()
	for dialect, messages := range map[Dialect][]string{
		Anthropic: {user, uses("a", "b"), answers("a", "b", "+"), uses("c"), answers("c"), said, user},
		Responses: {user, callItem("a"), callItem("b"), outputItem("b"), outputItem("a"), said, user},
	} {
		wrap := messagesAPI
		if dialect == Responses {
			wrap = responses
		}
		whole := parseAs(t, dialect, wrap(join(messages...))).Chain()
		for n := range messages {
			require.Equal(t, whole[:n+1], parseAs(t, dialect, wrap(join(messages[:n+1]...))).Chain())
		}
	}
}

// B23 in every dialect: the tool is declared as the dialect declares tools.
func TestRecoveryToolInEveryDialect(t *testing.T) {
	t.Parallel()
	flat, err := ToolIn(Responses, []byte(recovery))
	require.NoError(t, err)
	require.Equal(t, `{"type":"function","name":"token_terminator",`+strings.SplitN(recovery, `"name":"token_terminator",`, 2)[1][:len(strings.SplitN(recovery, `"name":"token_terminator",`, 2)[1])-1], string(flat))
	schema, err := ToolIn(Anthropic, []byte(strings.Replace(recovery, `"parameters"`, `"strict":true,"description":"d","parameters"`, 1)))
	require.NoError(t, err)
	require.Equal(t, `{"name":"token_terminator","description":"d","input_schema":{"type":"object","properties":{"action":{"type":"string"},"artifact_id":{"type":"string"}},"required":["action"]}}`, string(schema))
	for _, dialect := range []Dialect{Chat, Responses, Anthropic} {
		same, err := ToolIn(dialect, schema)
		require.NoError(t, err)
		require.Equal(t, string(schema), string(same), "what is no chat declaration stays")
	}
	_, err = ToolIn(Responses, []byte(`"x"`))
	require.Equal(t, turn.UnknownShape, ReasonOf(err))

	for name, c := range map[string]struct {
		raw, choice string
		want        bool
	}{
		"auto object":          {string(messagesAPI(user)), `{"type":"auto"}`, true},
		"any":                  {string(messagesAPI(user)), `{"type":"any","disable_parallel_tool_use":true}`, true},
		"this tool":            {string(messagesAPI(user)), `{"type":"tool","name":"token_terminator"}`, true},
		"another tool":         {string(messagesAPI(user)), `{"type":"tool","name":"Bash"}`, false},
		"none":                 {string(messagesAPI(user)), `{"type":"none"}`, false},
		"a chat's word":        {string(messagesAPI(user)), `"auto"`, false},
		"null":                 {string(messagesAPI(user)), `null`, true},
		"item auto":            {string(responses(user)), `"auto"`, true},
		"item required":        {string(responses(user)), `"required"`, true},
		"item none":            {string(responses(user)), `"none"`, false},
		"item this tool":       {string(responses(user)), `{"type":"function","name":"token_terminator"}`, true},
		"item another tool":    {string(responses(user)), `{"type":"function","name":"shell"}`, false},
		"item hosted tool":     {string(responses(user)), `{"type":"file_search"}`, false},
		"item object auto":     {string(responses(user)), `{"type":"auto"}`, false},
		"item allowed":         {string(responses(user)), `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"x"},{"type":"function","name":"token_terminator"}]}`, true},
		"item not allowed":     {string(responses(user)), `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"x"}]}`, false},
		"chat allowed":         {string(chat(user)), `{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"token_terminator"}}]}}`, true},
		"chat with any object": {string(chat(user)), `{"type":"any"}`, false},
	} {
		raw := strings.TrimSuffix(c.raw, "}") + `,"tool_choice":` + c.choice + `}`
		before, err := Parse([]byte(raw))
		require.NoError(t, err, name)
		require.False(t, before.Offers("token_terminator", "action"), name)
		out, err := WithTool([]byte(raw), []byte(recovery))
		require.NoError(t, err, name)
		declared, err := ToolIn(before.Dialect, []byte(recovery))
		require.NoError(t, err, name)
		require.Equal(t, strings.TrimSuffix(raw, "}")+`,"tools":[`+string(declared)+`]}`, string(out), name)
		after, err := Parse(out)
		require.NoError(t, err, name)
		require.Equal(t, before.Dialect, after.Dialect, name)
		require.Equal(t, c.want, after.Offers("token_terminator", "action", "artifact_id"), name)
		require.False(t, after.Offers("token_terminator", "nothing"), name)
	}
}

func TestSegmentsOfItemsDoNotDependOnNeighbours(t *testing.T) {
	t.Parallel()
	items := []string{user, callItem("a"), outputItem("a"), callItem("b"), outputItem("b"), said}
	var before [][]byte
	for n := 1; n <= len(items); n++ {
		d := parseAs(t, Responses, responses(join(items[:n]...)))
		checkSegments(t, d)
		seg, err := d.Segments()
		require.NoError(t, err)
		require.Equal(t, `{"input":[{"`, string(seg.Head))
		require.Equal(t, `instructions":"s","model":"gpt-6.2-sol","store":false}`, string(seg.Tail))
		for i := range max(0, len(before)-1) {
			require.Equal(t, string(before[i]), string(seg.Messages[i]))
		}
		before = seg.Messages
	}
}
