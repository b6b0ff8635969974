package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// ErrAddress says that an address is not one of this machine alone.
var ErrAddress = errors.New("status address: want a loopback address with a port, like 127.0.0.1:9464")

// Listener is what the pages are served on.
type Listener = net.Listener

// Listen opens the listener of the pages. Only loopback addresses, written as numbers
// or as localhost, are taken; port 0 takes a free one.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, ErrAddress
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() || ip.Zone() != "" {
		return nil, ErrAddress
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, errors.New("status address: want a port from 0 to 65535")
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(ip.String(), port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("status address: port %s is already in use: choose another port", port)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("status address: port %s may not be used by this user: choose one above 1023", port)
	case err != nil:
		return nil, fmt.Errorf("status address: it cannot be used (%T)", errors.Unwrap(err))
	}
	if at, ok := ln.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(ErrAddress, ln.Close())
	}
	return ln, nil
}

// Handler serves /status, /metrics and /healthz. metrics may be nil: then /metrics is
// not found.
func Handler(source Source, metrics *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { writeStatus(w, r, source) })
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) { writeHealth(w, r, source) })
	if metrics != nil {
		mux.Handle("/metrics", promhttp.HandlerFor(metrics.registry, promhttp.HandlerOpts{
			ErrorLog: quiet{}, ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: 4, Timeout: 2 * scrapeWait,
		}))
	}
	return localOnly(mux)
}

// quiet drops words of the library.
type quiet struct{}

// Println implements promhttp.Logger.
func (quiet) Println(...any) {}

// localOnly refuses what no program of this machine asks in earnest.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !loopbackHost(r.Host):
			refuse(w, http.StatusForbidden, "this is for this machine only")
		case site != "" && site != "same-origin" && site != "none", !ownOrigin(r):
			refuse(w, http.StatusForbidden, "not for other sites")
		case r.Method != http.MethodGet:
			h.Set("Allow", http.MethodGet)
			refuse(w, http.StatusMethodNotAllowed, "only GET")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopbackHost says whether a Host header names this machine: localhost, or a loopback
// address. A name of another site that resolves to 127.0.0.1 is none of them.
func loopbackHost(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		name = h
		if strings.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' }) {
			return false
		}
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// ownOrigin says whether a page that asks was served by these pages themselves. Programs
// and the address line name no origin.
func ownOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	return origin == "" || strings.EqualFold(origin, "http://"+r.Host)
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

func writeStatus(w http.ResponseWriter, r *http.Request, source Source) {
	s, err := source.Status(r.Context())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "the status is not to be had now")
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = WriteJSON(w, s)
}

// WriteJSON writes the status document as indented JSON.
func WriteJSON(w io.Writer, s Status) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

// writeHealth is 200 while turns are worked on, 503 when all requests pass unchanged
// because the store is down.
func writeHealth(w http.ResponseWriter, r *http.Request, source Source) {
	s, err := brief(r.Context(), source)
	if err != nil || s.Engine == nil || s.Engine.State == "bypass" {
		refuse(w, http.StatusServiceUnavailable, "requests pass unchanged")
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(map[string]string{"state": s.Engine.State})
}

// Serve answers on ln until ctx ends, then closes it.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 2 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = server.Close()
	})
	err := server.Serve(ln)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve status: it ended (%T)", err)
}
