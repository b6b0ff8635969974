package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"token-terminator/host"
	"token-terminator/host/logs"
	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/host/watch"
)

// stopPatience is how long the daemon waits for answers still missing when it ends.
const stopPatience = 15 * time.Second

// memoryLimit is where the garbage collector begins to work harder, in bytes. What is
// kept has bounds of its own; this keeps garbage from doubling it.
const memoryLimit = 1 << 30

type serveFlags struct {
	home, vault, http string
	idle              time.Duration
	set               map[string]string // settings that were given as flags
	foreground        bool
	json              bool
}

func serveVerb() verb {
	v := verb{
		name: "serve", summary: "run the daemon of a home: it answers hosts over a private socket",
		usage: "[flags]",
		help: `One daemon serves every session of a home. It prints one line when it is ready, and
ends on SIGTERM, on an interrupt, when a newer client asks it to, or when nobody used it
for --idle; whatever it was asked before that is answered first. Clients find it by
daemon.json in the home's folder.

Examples:
  tt serve
  tt serve --foreground=false
  tt serve --home ~/.hermes --idle 8h --json
`,
	}
	v.run = func(s *stage, args []string) error {
		var f serveFlags
		fs := newFlags(s, v)
		fs.StringVar(&f.home, "home", "", "home `folder`")
		fs.StringVar(&f.vault, "vault", "", "vault `folder` instead of the home's")
		fs.DurationVar(&f.idle, "idle", host.DefaultIdle, "end after this `time` without a request; 0 never (setting IDLE_EXIT_MINUTES)")
		fs.StringVar(&f.http, "http", "", "loopback `address` of /status, /metrics and /healthz, e.g. 127.0.0.1:9464 (setting STATUS_ADDR)")
		fs.BoolVar(&f.foreground, "foreground", true, "stay in the foreground; false starts a daemon in the background and returns when it is ready")
		fs.BoolVar(&f.json, "json", false, "print the ready line as JSON")
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return usagef("serve takes no argument, got %q", rest[0]).try("tt serve --help")
		}
		if f.idle < 0 {
			return usagef("--idle wants 0 or more").try("--idle 30m")
		}
		f.set = map[string]string{}
		fs.Visit(func(given *flag.Flag) {
			switch given.Name {
			case "idle":
				f.set["IDLE_EXIT_MINUTES"] = strconv.FormatFloat(f.idle.Minutes(), 'g', -1, 64)
			case "http":
				f.set["STATUS_ADDR"] = f.http
			}
		})
		folder, err := vaultFolder(s, f.vault, f.home)
		if err != nil {
			return err
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return usagef("the folder has no absolute path: %w", err)
		}
		if !f.foreground {
			return f.background(s, folder)
		}
		return f.serve(s, folder, nil)
	}
	return v
}

// ready is the line that says where the daemon listens. The token of a loopback daemon
// stays in daemon.json.
type ready struct {
	PID     int    `json:"pid"`
	Socket  string `json:"socket,omitempty"`
	Address string `json:"address,omitempty"`
	Version string `json:"version"`
	Folder  string `json:"folder"`
}

func (f *serveFlags) tell(s *stage, folder string, info host.Info) error {
	r := ready{info.PID, info.Socket, info.Address, info.Version, folder}
	if f.json {
		return printJSONLine(s.stdout, r)
	}
	at := r.Socket
	if at == "" {
		at = r.Address
	}
	_, err := fmt.Fprintf(s.stdout, "ready: process %d, %s\n", r.PID, at)
	return err
}

// serve runs the daemon. change, if any, is what a test adds to its configuration.
func (f *serveFlags) serve(s *stage, folder string, change func(*engineConfig)) error {
	if s.getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	set, err := loadSettings(s, folder, f.set)
	if err != nil {
		return err
	}
	pages, err := f.listen(set)
	if err != nil {
		return err
	}
	lease, err := host.Acquire(s.ctx, folder)
	if err != nil {
		return errors.Join(startFailure(err), closeAll(pages))
	}
	logger, logFile, err := logs.Open(folder, logs.Options{MaxMB: set.LogMaxMB, Files: set.LogFiles, Level: logLevel(set.LogLevel)})
	if err != nil {
		return errors.Join(storage(err), lease.Release(), closeAll(pages))
	}
	defer logFile.Close()
	cfg := engineConfig{settings: set, vault: apply.Vault(set), logger: logger}
	if set.Ledger {
		cfg.ledger = ledgerPath(folder, set)
	}
	apply.Actors(set, &cfg.actors)
	if change != nil {
		change(&cfg)
	}
	e, err := startEngine(filepath.Dir(vaultPath(folder, set)), cfg)
	if err != nil {
		return errors.Join(err, lease.Release(), closeAll(pages))
	}
	if err := e.vault.failure(); err != nil {
		logger.Warn("the vault does not open, requests pass", "err_type", fmt.Sprintf("%T", errors.Unwrap(err)))
		fmt.Fprintf(s.stderr, "tt: %v; requests pass unchanged until it opens\n", err)
	}
	e.warm()
	return f.run(s, e, lease, pages, set, logger)
}

// run serves until it is time to leave.
func (f *serveFlags) run(s *stage, e *engine, lease *host.Lease, pages watch.Listener, set settings.Settings, logger *slog.Logger) error {
	exe, _ := os.Executable()
	cfg := host.Config{
		Backend: e, Version: version, Engine: engineName, Exe: exe, RuntimeDir: s.getenv("XDG_RUNTIME_DIR"), Idle: set.IdleExit, Logger: logger,
	}
	if cfg.Idle == 0 {
		cfg.Idle = -1
	}
	if pages != nil {
		cfg.HTTP = pages.Addr().String()
	}
	folder := lease.Folder
	server, err := host.Listen(lease, cfg)
	if err != nil {
		return errors.Join(startFailure(err), e.Close(context.WithoutCancel(s.ctx)), lease.Release(), closeAll(pages))
	}
	e.numbers.watchDoor(server.Stats)
	endPages := servePages(pages, e, logger)
	logger.Info("ready", "pid", os.Getpid(), "version", version, "mode", string(set.Mode))
	told := f.tell(s, folder, server.Info())
	if told == nil {
		for _, notice := range set.Notices {
			fmt.Fprintln(s.stderr, "tt:", notice)
		}
		select {
		case <-s.ctx.Done():
		case <-server.Leaving():
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), stopPatience)
	defer cancel()
	endPages()
	err = server.Stop(ctx)
	logger.Info("ended", "failed", err != nil)
	return errors.Join(told, err)
}

// listen opens the address of the pages, when one is wanted.
func (f *serveFlags) listen(set settings.Settings) (watch.Listener, error) {
	if set.StatusAddr == "" {
		return nil, nil
	}
	pages, err := watch.Listen(set.StatusAddr)
	if err != nil {
		return nil, usagef("%w", err).try("--http 127.0.0.1:9464")
	}
	return pages, nil
}

func closeAll(l watch.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// servePages serves status and metrics until the returned function is called.
func servePages(l watch.Listener, e *engine, logger *slog.Logger) (end func()) {
	if l == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := watch.Serve(ctx, l, watch.Handler(e.numbers.live, e.numbers.metrics)); err != nil {
			logger.Warn("the status pages ended", "err_type", fmt.Sprintf("%T", err))
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func logLevel(word string) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(word)) // of a closed list; else info
	return level
}

// startFailure gives an error of starting its exit code and hint.
func startFailure(err error) error {
	var running *host.RunningError
	if errors.As(err, &running) {
		return (&failure{code: exitRefused, err: err}).try(running.Hint())
	}
	return storage(err)
}

// background starts a daemon that outlives this command.
func (f *serveFlags) background(s *stage, folder string) error {
	if info, err := host.ReadInfo(folder); err == nil {
		if c := daemonOf(s.ctx, folder); c != nil {
			c.Close()
			return startFailure(&host.RunningError{PID: info.PID, Started: info.Started})
		}
	}
	args := []string{"serve", "--vault", folder}
	if f.set["IDLE_EXIT_MINUTES"] != "" {
		args = append(args, "--idle", f.idle.String())
	}
	if f.http != "" {
		args = append(args, "--http", f.http)
	}
	start, err := selfStarter(args...)
	if err != nil {
		return err
	}
	c, err := host.Dial(s.ctx, host.Options{Folder: folder, Name: "tt serve", Version: version, Operator: true, Start: start})
	if err != nil {
		return storage(fmt.Errorf("start the daemon: %w", err)).try("tt serve in the foreground shows why")
	}
	defer c.Close()
	info, err := host.ReadInfo(folder)
	if err != nil {
		return storage(err)
	}
	return f.tell(s, folder, info)
}

// selfStarter starts this very program again.
func selfStarter(args ...string) (*host.Starter, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &host.Starter{Exe: exe, Args: args}, nil
}
