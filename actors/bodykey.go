package actors

import "hash/maphash"

// bodyKey tells the bytes of one request from those of another: two hashes under
// secret seeds of this process, and the length. It is compared only among the few
// requests of one turn of one session, and never leaves the process or is stored, so
// nobody can aim at it; a SHA-256 of a whole conversation cost a fifth of a turn.
type bodyKey struct {
	a, b uint64
	n    int
}

var bodySeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func bodyKeyOf(body []byte) bodyKey {
	return bodyKey{maphash.Bytes(bodySeeds[0], body), maphash.Bytes(bodySeeds[1], body), len(body)}
}
