package web

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/rpc"
)

// A session ends by its age and not by its timer, which may fire late or early.
func TestSessionTimersMayBeWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sessions
		defer all.close()
		late, cookie := all.begin(new(rpc.Visitor))
		late.timer.Stop()
		time.Sleep(idleTime - time.Second)
		all.expire(late) // too early
		if all.find(cookie, "", false) == nil {
			t.Fatal("a session in use has ended")
		}
		late.timer.Stop()
		time.Sleep(idleTime)
		if all.find(cookie, "", true) != nil {
			t.Error("a session that was not used for too long goes on")
		}
	})
}
