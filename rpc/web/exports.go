package web

import "sync"

// Exports are long, and each asks the node for page after page: these bounds leave the node to others.
const (
	maxExports      = 16
	maxLoginExports = 4 // of one login
)

// exporting are the exports that are under way. The zero value has none.
type exporting struct {
	mu      sync.Mutex
	total   int
	byLogin map[string]int
}

// enter begins an export of a login. It is false where there are too many.
func (e *exporting) enter(login string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.total >= maxExports || e.byLogin[login] >= maxLoginExports {
		return false
	}
	if e.byLogin == nil {
		e.byLogin = map[string]int{}
	}
	e.total++
	e.byLogin[login]++
	return true
}

// leave ends an export.
func (e *exporting) leave(login string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total--
	if e.byLogin[login]--; e.byLogin[login] == 0 {
		delete(e.byLogin, login)
	}
}
