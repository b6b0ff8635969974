// Package wire is the protocol between a host and the daemon: frames on a stream and
// the JSON bodies in them, decoded strictly. docs/protocol.md shows an exchange of each
// kind. The package does no I/O of its own and holds no state between frames.
package wire
