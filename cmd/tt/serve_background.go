package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"token-terminator/host"
)

// startWait is how long a daemon may take until it listens.
const startWait = 15 * time.Second

// stopPoll is how often a daemon that leaves is looked for.
const stopPoll = 20 * time.Millisecond

// maxWords bounds what is repeated of a daemon's words, in bytes.
const maxWords = 64 << 10

// background starts a daemon that outlives this command. What it says before it listens
// is repeated here; when it ends instead, its exit code is this command's.
func (f *serveFlags) background(s *stage, folder string) error {
	if info, err := host.ReadInfo(folder); err == nil {
		if c := daemonOf(s.ctx, folder); c != nil {
			c.Close()
			return startFailure(&host.RunningError{PID: info.PID, Started: info.Started})
		}
	}
	args := []string{"serve", "--vault", folder}
	if f.idleGiven {
		args = append(args, "--idle", f.idle.String())
	}
	if f.http != "" {
		args = append(args, "--http", f.http)
	}
	start, err := selfStarter(args...)
	if err != nil {
		return err
	}
	// A file, not a pipe: the daemon goes on writing when this command has ended.
	words, err := os.CreateTemp("", "token-terminator-start-")
	if err != nil {
		return storage(fmt.Errorf("keep the daemon's words: %w", err))
	}
	defer os.Remove(words.Name())
	defer words.Close()
	start.Stderr = words
	return f.await(s, folder, start, words)
}

// await starts the daemon and waits until it listens or has ended.
func (f *serveFlags) await(s *stage, folder string, start *host.Starter, words *os.File) error {
	d, err := host.Spawn(*start)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, startWait)
	defer cancel()
	c, err := d.Dial(ctx, host.Options{Folder: folder, Name: "tt serve", Version: version, Operator: true})
	code := exitDone
	if err != nil {
		select { // what could not be reached is most likely ending, with words of its own
		case <-d.Done():
			code = d.State().ExitCode()
		case <-ctx.Done():
		}
	}
	said, copied := io.Copy(s.stderr, io.NewSectionReader(words, 0, maxWords))
	err = errors.Join(err, copied)
	if err != nil {
		if code > exitDone && said > 0 {
			return &relayed{code}
		}
		return (&failure{code: exitUnexpected, err: fmt.Errorf("start the daemon: %w", err)}).try("tt serve in the foreground shows why")
	}
	defer c.Close()
	info, err := host.ReadInfo(folder)
	if err != nil {
		return storage(err)
	}
	return f.tell(s, folder, info)
}

// end asks the daemon of a folder to leave and waits until it has. That none runs is
// said, and is no failure.
func (f *serveFlags) end(s *stage, folder string) error {
	info, err := host.ReadInfo(folder)
	if errors.Is(err, host.ErrNoDaemon) {
		fmt.Fprintln(s.stderr, "no daemon is running")
		return nil
	}
	if err != nil {
		return storage(err)
	}
	ctx, cancel := context.WithTimeout(s.ctx, stopPatience+startWait)
	defer cancel()
	c := daemonOf(ctx, folder)
	if c == nil {
		return (&failure{code: exitUnexpected, err: fmt.Errorf("process %d does not answer", info.PID)}).try("tt doctor says whether it runs; SIGTERM ends it")
	}
	err = c.Drain(ctx)
	c.Close()
	if err != nil {
		return &failure{code: exitUnexpected, err: err}
	}
	for at := info; err == nil && at.PID == info.PID; at, err = host.ReadInfo(folder) {
		select {
		case <-ctx.Done():
			return &failure{code: exitUnexpected, err: fmt.Errorf("process %d has not ended yet: it finishes its work first", info.PID)}
		case <-time.After(stopPoll):
		}
	}
	lease, err := host.Acquire(ctx, folder) // it gives its lease back last of all
	if err != nil {
		return startFailure(err)
	}
	if err := lease.Release(); err != nil {
		return storage(err)
	}
	if f.json {
		return printJSONLine(s.stdout, map[string]int{"ended": info.PID})
	}
	_, err = fmt.Fprintf(s.stdout, "ended: process %d\n", info.PID)
	return err
}

// selfStarter starts this very program again.
func selfStarter(args ...string) (*host.Starter, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return &host.Starter{Exe: exe, Args: args}, nil
}
