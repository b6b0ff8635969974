package reports

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func htmlOf(t *testing.T, r Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteHTML(&b, o))
	return b.String()
}

// drawn is saver with turns of every arm, epochs of every kind and a needed block.
func drawn() Session {
	s := saver()
	s.Cost.AlwaysRewrite, s.Cost.Masking, s.Cost.Optimum = ptr(131_000), ptr(150_000), ptr(110_000)
	for i := range 300 {
		f := float64(i)
		s.AddArmTurn(ArmRaw, 2000+90*i, 300+10*f)
		s.AddArmTurn(ArmOurs, 2090+80*i, 290+9*f)
		s.AddArmTurn(ArmAlwaysRewrite, 1500+50*i, 300+13*f)
		s.AddArmTurn(ArmMasking, 1800+70*i, 320+11*f)
		s.AddArmTurn(ArmOptimum, 1900+60*i, 270+8*f)
	}
	s.AddNeeded(turn.Compressed, "Bash")
	s.Epochs = []Epoch{{21, "cold", "cold_cache"}, {46, "warm", "rent_or_buy"}, {55, "window", "window_pressure"}, {999, "cold", "outside"}}
	return s
}

func single() Session {
	s := loser()
	s.AddArmTurn(ArmRaw, 3000, 1000)
	s.AddArmTurn(ArmOurs, 3090, 1010)
	return s
}

func TestPageIsAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]Report{
		"mixed.html": New([]Session{drawn(), single(), panelled()}),
		"empty.html": New(nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := htmlOf(t, r, options())
			require.Equal(t, page, htmlOf(t, r, options()), "the same figures give the same bytes")
			require.True(t, strings.HasPrefix(page, PageStart))
			golden(t, name, []byte(page))
		})
	}
}

var (
	idsOf    = regexp.MustCompile(` id="([^"]*)"`)
	labelsOf = regexp.MustCompile(` aria-labelledby="([^"]*)"`)
	linksOf  = regexp.MustCompile(` href="#([^"]*)"`)
	tagsOf   = regexp.MustCompile(`<(/?)([a-zA-Z]+)[^>]*?(/?)>`)
)

// A page stands alone: it loads nothing, runs nothing, and every name it refers to
// is there.
func TestPageStandsAlone(t *testing.T) {
	t.Parallel()
	page := htmlOf(t, New([]Session{drawn(), single(), panelled()}), options())
	for _, banned := range []string{"<script", "javascript:", "src=", "url(", "@import", "http:", "https:", "<iframe", "<object", "<form"} {
		require.NotContains(t, page, banned)
	}
	require.NotRegexp(t, ` on[a-z]+="`, page)
	require.Contains(t, page, `default-src 'none'`)
	ids := map[string]bool{}
	for _, m := range idsOf.FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]], "id %s stands twice", m[1])
		ids[m[1]] = true
	}
	for _, m := range append(labelsOf.FindAllStringSubmatch(page, -1), linksOf.FindAllStringSubmatch(page, -1)...) {
		for _, id := range strings.Fields(m[1]) {
			require.True(t, ids[id], "nothing has the id %s", id)
		}
	}
	requireNested(t, page)
	require.Equal(t, strings.Count(page, `<svg class="plot"`), strings.Count(page, `role="img"`), "every plot is named")
	require.Equal(t, strings.Count(page, "<table"), strings.Count(page, "<caption"), "every table has a caption")
	require.Equal(t, strings.Count(page, "<tr>"), strings.Count(page, `<th scope="row"`)+strings.Count(page, "<thead>"), "every row has a head")
}

// requireNested holds every element to be closed in its turn.
func requireNested(t *testing.T, page string) {
	t.Helper()
	void := map[string]bool{"meta": true, "link": true}
	var open []string
	body := page[strings.Index(page, "</style>"):]
	open = append(open, "html", "head", "style")
	for _, m := range tagsOf.FindAllStringSubmatch(body, -1) {
		switch {
		case void[m[2]] || m[3] == "/":
		case m[1] == "":
			open = append(open, m[2])
		default:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], m[2])
			open = open[:len(open)-1]
		}
	}
	require.Empty(t, open)
}

func TestPageShowsTheFiguresAndWhatStandsBesideThem(t *testing.T) {
	t.Parallel()
	r := New([]Session{drawn(), single()})
	page := htmlOf(t, r, options())
	total := r.Total
	for _, want := range []string{
		fmt.Sprintf(`<data value="%d">`, total.UniqueTokensRemoved), `<data value="` + bare(*total.Cost.SavedPct) + `">`,
		count(total.Tokens.Raw) + " to " + count(total.Tokens.Final), "1 of 2", beside(total),
	} {
		require.Contains(t, page, want)
	}
	for _, s := range r.Sessions {
		require.Contains(t, page, s.ID)
		require.Contains(t, page, share(s.Cost.SavedPct)+" net; "+beside(s))
		require.Contains(t, page, `<data value="`+bare(*s.Cost.SavedPct)+`">`)
	}
	require.Contains(t, page, "Sessions that became dearer: 1 of 2")
	require.Contains(t, page, "-0.9 % net, 80 ite more; 0 hidden, 0 needed later")
	require.Contains(t, page, "always rewrite")
	require.Contains(t, page, "What a replay cannot show")
	require.Contains(t, page, ReplayLimits()[0][:40])
	require.Contains(t, page, "sub-agent: 1 broken line left out: 7")
	require.Contains(t, page, `<li class="assumed"><b>assumed</b>prices: row study has assumed cells</li>`)
	require.Contains(t, page, `<li class="measured"><b>measured</b>tokens: exact counts, o200k_base</li>`)
	require.Equal(t, 2*3, strings.Count(page, `<line class="epoch `), "both plots of the session mark the epochs that lie inside")
	forms := groupTable("forms", "", "", total.ByForm, total.loss.byForm)
	require.Equal(t, []string{"compressed", "3,600", "60.0 %", "2", "1"}, cells(forms.Rows[0])[:5])
	tools := groupTable("tools", "", "", total.ByTool, total.loss.byTool)
	require.Equal(t, []string{"Bash", "2,500", "62.5 %", "1", "1"}, cells(tools.Rows[0])[:5])
	require.Equal(t, []string{"together", "5,900", "65.6 %", "2", "1"}, cells(tools.Foot[0])[:5])
}

func cells(row []cellView) (out []string) {
	for _, c := range row {
		out = append(out, c.Text)
	}
	return out
}

func TestPanelAndStandInAreLabelled(t *testing.T) {
	t.Parallel()
	require.Contains(t, htmlOf(t, New([]Session{panelled()}), options()), "a panel of four measures")
	mixed := htmlOf(t, New([]Session{saver(), panelled()}), options())
	require.Contains(t, mixed, "Total (exact)")
	require.Contains(t, mixed, "Total (panel)")
	require.Contains(t, mixed, "never added up")
	s := saver()
	s.Tokenizer = "o200k_base (assumed)"
	require.Contains(t, htmlOf(t, New([]Session{s}), options()), "Total (exact, partly by a stand-in tokenizer)")
	s.Cost.Unit, s.Cost.Assumed = "usd", false
	s.Cost.PriceRow = PriceRow{Name: "gpt-4o", AsOf: "2026-11-30", Input: 2.5e-6, Read: 1.25e-6, Write: 2.5e-6, Output: 1e-5}
	page := htmlOf(t, New([]Session{s}), options())
	require.Contains(t, page, "prices: of 2026-11-30, row gpt-4o")
	require.Contains(t, page, "row gpt-4o: input 2.5, read 1.25, write 2.5, output 10, unit usd (prices per million tokens)")
}

func TestPlotsKeepTheirBounds(t *testing.T) {
	t.Parallel()
	v := detail(drawn(), 0, true)
	require.Len(t, v.Plots, 2)
	for _, p := range v.Plots {
		require.Len(t, p.Lines, 5)
		for _, line := range p.Lines {
			points := strings.Fields(line.Points)
			require.Len(t, points, maxPoints)
			for _, point := range points {
				var x, y float64
				_, err := fmt.Sscanf(point, "%g,%g", &x, &y)
				require.NoError(t, err)
				require.GreaterOrEqual(t, x, plotLeft)
				require.LessOrEqual(t, x, plotWidth-plotRight)
				require.GreaterOrEqual(t, y, plotTop)
				require.LessOrEqual(t, y, plotHeight-plotBottom)
			}
		}
	}
	require.Len(t, v.Turns.Rows, maxTurnRows)
	require.Equal(t, "1", v.Turns.Rows[0][0].Text)
	require.Equal(t, "300", v.Turns.Rows[maxTurnRows-1][0].Text)
	require.Len(t, detail(single(), 0, true).Plots[0].Dots, 2, "one turn is a dot")
	require.Empty(t, detail(loser(), 0, true).Plots)
	for want, v := range map[float64]float64{1: 0, 100: 99.9, 200: 101, 8000: 7000, 0.4: 0.31, 0.003: 0.0025} {
		require.InDelta(t, want, niceAbove(v), 1e-12)
	}
	require.Equal(t, &bar{X: "19", Width: "1", Minus: true}, netBar(ptr(-0.1), 30))
	require.Equal(t, &bar{X: "0", Width: "20", Minus: true}, netBar(ptr(-90), 30))
	require.Equal(t, &bar{X: "20", Width: "80"}, netBar(ptr(30), 30))
	require.Nil(t, netBar(nil, 30))
}

// hostile is a report in which every text that comes from a file is the given one.
func hostile(text string) (Report, Options) {
	s := saver()
	s.AddArmTurn(ArmRaw, 2000, 300)
	s.ID, s.Source, s.Model, s.Tokenizer = "i"+text, "s"+text, "m"+text, "t"+text
	s.Cost.PriceRow.Name, s.Cost.PriceRow.Source, s.Cost.PriceRow.AsOf = "p"+text, "q"+text, "d"+text
	s.AddBlock(turn.Delta, "u"+text, 500, 100)
	s.AddNeeded(turn.Compressed, "u"+text)
	s.Reasons["r"+text] = 7
	s.Epochs = append(s.Epochs, Epoch{3, "k" + text, "e" + text})
	s.AddArmTurn("a"+text, 1, 1)
	return New([]Session{s, loser()}), Options{
		Title: "T" + text, Command: "c" + text, Cache: "h" + text, Notes: []string{"n" + text}, Limits: []string{"l" + text}, RecoveryPct: 5,
	}
}

// Whatever a file calls its sessions, models and tools: the page has the elements it
// has for plain names, and nothing in it steers a terminal or turns a line around.
func FuzzPageEscapesNames(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onmouseover='x", "</title></style></svg>", "javascript:alert(1)",
		"{{.}}", "&lt;&#60;&", "\u202Eevil\u2066", "a\x00b\x1b[2J\r\n", "\xff\xfe", "<!--", "]]>", "`${x}`", "\u2028\u2029", strings.Repeat("<", 500),
	} {
		f.Add(seed)
	}
	r, o := hostile("")
	var b bytes.Buffer
	require.NoError(f, r.WriteHTML(&b, o))
	plain := b.String()
	f.Fuzz(func(t *testing.T, text string) {
		r, o := hostile(text)
		page := htmlOf(t, r, o)
		for _, mark := range []string{"<", ">", `"`, "'", "<script", "<img", "<a ", "<!--", "</svg>", "</title>"} {
			require.Equal(t, strings.Count(plain, mark), strings.Count(page, mark), mark)
		}
		require.True(t, utf8.ValidString(page))
		require.Equal(t, -1, strings.IndexFunc(page, func(r rune) bool {
			return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}))
	})
}
