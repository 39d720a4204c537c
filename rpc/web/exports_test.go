package web

import "testing"

// A login has a few exports at a time, and all together not many more.
func TestExports(t *testing.T) {
	var e exporting
	for _, login := range []string{"a", "b", "c", "d"} {
		for n := range 2 * maxLoginExports {
			if got := e.enter(login); got != (n < maxLoginExports) {
				t.Errorf("%s, export %d: %v", login, n, got)
			}
		}
	}
	if e.enter("e") {
		t.Error("there are too many")
	}
	e.leave("a")
	if !e.enter("e") || e.enter("a") {
		t.Error("a place that has become free is not e's")
	}
	e.leave("e")
	if len(e.byLogin) != 4 {
		t.Errorf("%d logins are remembered, want the 4 that have exports", len(e.byLogin))
	}
}
