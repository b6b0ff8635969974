// Package host is the process boundary: a daemon for each home that answers frames
// (host/wire) over a unix socket, and the Go client that talks to it. What a frame
// means is decided behind the Backend interface; this package knows connections,
// deadlines and who may speak, and never looks into a request, except that the client
// applies the edits it was given.
package host
