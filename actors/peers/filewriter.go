package peers

// A runner runs work beside the actor and in the actor what it returns, unless that is
// nil.
type runner func(work func() (then func()))

// A fileWriter writes one file, one version of it at a time. It calls a waiting function once a
// write that includes its change has ended, with success or not.
type fileWriter struct {
	content func() []byte      // what is to be written now; in the actor
	write   func([]byte) error // in a worker
	failed  func(error)        // is called with each failure; in the actor

	busy    bool
	waiting []func() // for the next write
	writing []func() // for the write that is under way
	unsaved bool     // the last writing has failed, or was given up
}

// save writes the file and calls then when that is done, or has failed.
func (w *fileWriter) save(run runner, then func()) {
	w.waiting = append(w.waiting, then)
	if !w.busy {
		w.start(run)
	}
}

func (w *fileWriter) start(run runner) {
	w.busy, w.writing, w.waiting = true, w.waiting, nil
	content := w.content()
	run(func() func() {
		err := w.write(content)
		return func() { w.finish(run, err) }
	})
}

func (w *fileWriter) finish(run runner, err error) {
	if w.unsaved = err != nil; w.unsaved {
		w.failed(err)
	}
	done := w.writing
	w.busy, w.writing = false, nil
	for _, then := range done {
		then()
	}
	if len(w.waiting) > 0 {
		w.start(run)
	}
}

// reset forgets the waiting functions, after the actor's workers have been dropped.
func (w *fileWriter) reset() {
	w.unsaved = w.unsaved || w.busy
	w.busy, w.waiting, w.writing = false, nil, nil
}

// writeNow writes the file before it returns: at the end, when nothing else writes.
func (w *fileWriter) writeNow() error { return w.write(w.content()) }
