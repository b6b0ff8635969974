package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"token-terminator/host"
	"token-terminator/vault"
)

// stopPatience is how long the daemon waits for answers still missing when it ends.
const stopPatience = 15 * time.Second

type serveFlags struct {
	home, vault string
	idle        time.Duration
	foreground  bool
	json        bool
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
		fs.DurationVar(&f.idle, "idle", host.DefaultIdle, "end after this `time` without a request; 0 never")
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
		return f.serve(s, folder)
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

func (f *serveFlags) serve(s *stage, folder string) error {
	lease, err := host.Acquire(s.ctx, folder)
	if err != nil {
		return startFailure(err)
	}
	e, err := startEngine(folder, engineConfig{vault: vault.Options{}})
	if err != nil {
		return errors.Join(err, lease.Release())
	}
	e.warm()
	idle := f.idle
	if idle == 0 {
		idle = -1
	}
	exe, _ := os.Executable()
	server, err := host.Listen(lease, host.Config{
		Backend: e, Version: version, Exe: exe, RuntimeDir: s.getenv("XDG_RUNTIME_DIR"), Idle: idle,
	})
	if err != nil {
		return errors.Join(startFailure(err), e.Close(context.WithoutCancel(s.ctx)), lease.Release())
	}
	told := f.tell(s, folder, server.Info())
	if told == nil {
		select {
		case <-s.ctx.Done():
		case <-server.Leaving():
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), stopPatience)
	defer cancel()
	return errors.Join(told, server.Stop(ctx))
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
	start, err := selfStarter("serve", "--vault", folder, "--idle", f.idle.String())
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
