package main

import (
	"io/fs"
	"os"
	"path/filepath"

	"token-terminator/datasets"
	"token-terminator/internal/testkit/corpusscore"
	"token-terminator/testdata/needles"
	"token-terminator/testdata/scenarios"
)

type benchFlags struct {
	corpus, scenarios string
	json, markdown    bool
	speed             bool
}

// evidenceReport is tt bench evidence --json.
type evidenceReport struct {
	Command   string              `json:"command"`
	Scenarios []scenarios.Result  `json:"scenarios"`
	Needles   []needleResult      `json:"needles"`
	Outputs   []corpusscore.Score `json:"outputs"`
	Speed     []speedResult       `json:"speed,omitempty"`
	Absent    int                 `json:"absent"` // evidence strings and needles out of sight, arbitrary slots aside
	Larger    int                 `json:"larger"` // outputs that became larger
}

type needleResult struct {
	needles.Outcome
	Goal    float64 `json:"goal_pct"` // of the cases; 0: reported apart, no goal
	Percent float64 `json:"visible_pct"`
}

func benchVerb() verb {
	v := verb{
		name: "bench", summary: "measure the evidence law on texts whose evidence is known",
		usage: "evidence [flags]",
		help: `Runs the bundled scenarios through the whole pipeline and the needle cases and
recorded outputs through the reducers, and prints what stays visible and what is
removed. Exit 3 when a piece of evidence is out of sight or an output grew.

Examples:
  tt bench evidence
  tt bench evidence --corpus ../corpus --markdown
  tt bench evidence --scenarios my-scenarios
`,
	}
	v.run = func(s *stage, args []string) error {
		var f benchFlags
		fs := newFlags(s, v)
		fs.StringVar(&f.corpus, "corpus", s.getenv("TOKEN_TERMINATOR_CORPUS"), "`folder` with outputs/ to measure instead of the bundled ones (default: $TOKEN_TERMINATOR_CORPUS)")
		fs.StringVar(&f.scenarios, "scenarios", "", "`folder` of scenario files to run instead of the bundled ones")
		fs.BoolVar(&f.speed, "speed", false, "also compare the reducers' speed with SHA-256 over the same bytes")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		fs.BoolVar(&f.markdown, "markdown", false, "print Markdown")
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		if len(rest) != 1 || rest[0] != "evidence" {
			return usagef("bench takes one of: evidence").try("tt bench evidence")
		}
		return f.run(s)
	}
	return v
}

func (f *benchFlags) run(s *stage) error {
	if f.json && f.markdown {
		return usagef("--json and --markdown exclude each other")
	}
	if err := f.checkCorpus(); err != nil {
		return err
	}
	report, err := f.measure(s)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		err = printJSON(s.stdout, report)
	case f.markdown:
		err = report.markdown(s.stdout)
	default:
		err = report.text(s.stdout)
	}
	if err == nil && report.Absent+report.Larger > 0 {
		return refusedf("%d pieces of evidence are out of sight, %d outputs grew", report.Absent, report.Larger)
	}
	return err
}

// checkCorpus says that a corpus has no outputs to measure.
func (f *benchFlags) checkCorpus() error {
	if f.corpus == "" {
		return nil
	}
	all, err := fs.Glob(f.outputs(), "outputs/*")
	if err != nil || len(all) == 0 {
		return usagef("there is no recorded output in %s", filepath.Join(f.corpus, "outputs")).try("--corpus DIR, a folder that holds outputs/; without it the bundled ones are measured")
	}
	return nil
}

func (f *benchFlags) measure(s *stage) (*evidenceReport, error) {
	report := &evidenceReport{Command: "tt bench evidence"}
	if f.corpus != "" {
		report.Command += " --corpus $TOKEN_TERMINATOR_CORPUS"
	}
	if f.speed {
		report.Command += " --speed"
	}
	bench, err := newEvidenceBench(s)
	if err != nil {
		return nil, err
	}
	defer bench.close()
	if report.Scenarios, err = f.runScenarios(bench); err != nil {
		return nil, err
	}
	report.Needles = bench.needles()
	if report.Outputs, err = corpusscore.Run(f.outputs(), corpusscore.Families(), bench.count, bench.output); err != nil {
		return nil, err
	}
	if f.speed {
		report.Speed = bench.speed()
	}
	report.judge()
	return report, nil
}

// outputs is the folder whose recorded outputs are measured.
func (f *benchFlags) outputs() fs.FS {
	if f.corpus != "" {
		return os.DirFS(f.corpus)
	}
	return datasets.Files()
}

func (f *benchFlags) runScenarios(bench *evidenceBench) ([]scenarios.Result, error) {
	if f.scenarios == "" {
		return scenarios.Run(bench.scenario)
	}
	folder, err := filepath.Abs(f.scenarios)
	if err != nil {
		return nil, usagef("%w", err)
	}
	all, err := scenarios.LoadFrom(os.DirFS(filepath.Dir(folder)), filepath.Base(folder))
	if err != nil {
		return nil, usagef("%w", err)
	}
	if len(all) == 0 {
		return nil, usagef("there is no scenario file (*.json) in %s", f.scenarios)
	}
	return scenarios.RunAll(all, bench.scenario), nil
}

// hardGoal is the share of hard needles that must stay visible, in percent.
const hardGoal = 90

func needleGoal(class string) float64 {
	switch class {
	case needles.Hard:
		return hardGoal
	case needles.Arbitrary:
		return 0
	}
	return 100
}

// judge counts what must not be.
func (r *evidenceReport) judge() {
	for _, s := range r.Scenarios {
		if !s.Good() {
			r.Absent += max(1, len(s.Missing))
		}
	}
	for _, n := range r.Needles {
		if n.Percent < n.Goal {
			r.Absent += n.Total - n.Visible
		}
	}
	for _, o := range r.Outputs {
		r.Larger += o.Larger
	}
}
