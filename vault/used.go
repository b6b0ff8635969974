package vault

import "time"

// useStep is how exact the time is at which a session was last used.
const useStep = int64(time.Minute / time.Millisecond)

// maxUsed bounds the set; when it is full it starts again.
const maxUsed = 10_000

// usedSet remembers when a session's last use was written.
type usedSet map[string]int64

func (u *usedSet) note(sessions []string, now int64) {
	if *u == nil || len(*u)+len(sessions) > maxUsed {
		*u = make(usedSet, len(sessions))
	}
	for _, s := range sessions {
		(*u)[s] = now
	}
}

// use notes that a session is in use, if that was not noted within the last minute. A
// turn that fails notes nothing.
func (w *writing) use(session string) error {
	if at, ok := w.v.used[session]; ok && at <= w.now && w.now-at < useStep {
		return nil
	}
	if n := len(w.touched); n > 0 && w.touched[n-1] == session {
		return nil
	}
	if err := w.exec(qTouchSession, session, w.now); err != nil {
		return err
	}
	w.touched = append(w.touched, session)
	return nil
}
