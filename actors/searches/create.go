package searches

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// preparation prepares scan objects in a worker, those of one request after those of
// another.
type preparation struct {
	running bool
	queue   []func() (then func())
}

func (s *Searches) prepare(work func() (then func())) {
	s.prep.queue = append(s.prep.queue, work)
	s.prepareNext()
}

func (s *Searches) prepareNext() {
	if s.prep.running || len(s.prep.queue) == 0 {
		return
	}
	work := s.prep.queue[0]
	s.prep.queue = s.prep.queue[1:]
	s.prep.running = true
	s.tasks.Go(s.c, func() func() {
		then := work()
		return func() {
			s.prep.running = false
			then()
			s.prepareNext()
		}
	})
}

// prepared are scan objects as they are kept.
type prepared struct {
	objects []searchdb.Object
	scripts []searchdb.Script
	ranges  []searchdb.Range
	gaps    searchdb.Gaps // by the numbers of all objects of the search
}

// kept returns the objects of a request whose scripts are not there yet. The search has some objects and scripts.
//
// Errors: [*messages.SharedScriptsError].
func kept(
	o *messages.SearchObjects, objects []searchdb.Object, there []searchdb.Script, gaps searchdb.Gaps,
) (p prepared, err error) {
	set := search.NewScriptSet(len(there) + len(o.Scripts))
	for i := range there {
		set.Add(there[i].Script)
	}
	// They stay for as long as the search does, and there may be millions: so no part is larger than it has to be.
	together := strings.Join(o.Texts, "")
	p.objects = make([]searchdb.Object, len(o.Texts))
	for i, text := range o.Texts {
		p.objects[i], together = searchdb.Object(together[:len(text)]), together[len(text):]
	}
	size := 0
	p.scripts = make([]searchdb.Script, 0, len(o.Scripts))
	for _, script := range o.Scripts {
		if set.Add(script.Script) {
			size += len(script.Script)
			p.scripts = append(p.scripts, searchdb.Script{
				Script: script.Script, Object: uint32(len(objects) + script.Object), Index: script.Index,
			})
			continue
		}
		if o.Gaps == nil || o.Gaps[script.Object] == 0 {
			continue
		}
		var owner uint32
		if at, _ := set.Find(script.Script); at < len(there) {
			owner = there[at].Object
		} else {
			owner = p.scripts[at-len(there)].Object
		}
		// An object that is there already changes nothing.
		if int(owner) >= len(objects) && int(owner) != len(objects)+script.Object ||
			int(owner) < len(objects) && bodyOf(string(objects[owner])) != bodyOf(o.Texts[script.Object]) {
			return p, &messages.SharedScriptsError{Desc: o.Texts[script.Object]}
		}
	}
	if p.gaps, err = gapsOf(o, objects, gaps, &p); err != nil {
		return p, err
	}
	all := make([]byte, 0, size)
	for i := range p.scripts {
		script := &p.scripts[i].Script
		all = append(all, *script...)
		*script = all[len(all)-len(*script) : len(all) : len(all)]
	}
	p.ranges = searchdb.RangesOf(p.scripts)
	return p, nil
}

// sumOf is the same for the same request.
func sumOf(q *messages.CreateSearch, p *prepared) (sum [32]byte) {
	h := sha256.New()
	writeNumbers(
		h, int64(q.Start), int64(q.Stop), flag(q.Follow), flag(q.BlocksOnly), flag(q.Mempool), int64(len(p.objects)),
	)
	for i, o := range p.objects {
		writeNumbers(h, int64(len(o)))
		h.Write([]byte(o))
		if gap := p.gaps[uint32(i)]; gap > 0 {
			writeNumbers(h, -int64(gap)) // as no length is
		}
	}
	for i := range p.scripts {
		writeNumbers(h, int64(len(p.scripts[i].Script)), int64(p.scripts[i].Object), int64(p.scripts[i].Index))
		h.Write(p.scripts[i].Script)
	}
	h.Sum(sum[:0])
	return sum
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func writeNumbers(h hash.Hash, numbers ...int64) {
	for _, n := range numbers {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
}

func (s *Searches) create(m *ask.Call[messages.CreateSearch, messages.SearchCreated]) {
	s.prepare(func() func() {
		p, err := kept(&m.Req.Objects, nil, nil, nil)
		sum := sumOf(&m.Req, &p)
		return func() {
			if err != nil {
				m.Answer(messages.SearchCreated{}, err)
				return
			}
			created, err := s.created(&m.Req, p, sum)
			j := s.names[created.Name]
			if err != nil || !created.Created && j.shown != nil {
				m.Answer(created, err)
				return
			}
			s.writer.urgent = true // an existing search may not be on the disk yet
			s.writer.then = append(s.writer.then, func(err error) {
				if err == nil && s.jobs[j.ID] == j {
					mempool{s}.look(j)
				}
				m.Answer(created, err)
			})
			s.flush()
			s.plan()
		}
	})
}

// created makes a search.
func (s *Searches) created(q *messages.CreateSearch, p prepared, sum [32]byte) (messages.SearchCreated, error) {
	if q.Mempool && s.cfg.Pool.IsAbsent() {
		return messages.SearchCreated{}, messages.ErrNoPool
	}
	if old := s.names[q.Name]; old != nil {
		if old.Sum != sum {
			return messages.SearchCreated{}, &messages.SearchExistsError{Name: q.Name}
		}
		return messages.SearchCreated{ID: old.ID.String(), Name: old.Name}, nil
	}
	if err := s.allow(q.Owner, len(p.scripts), true); err != nil {
		return messages.SearchCreated{}, err
	}
	n := &searchdb.Search{
		ID: s.newID(), Objects: p.objects, Scripts: p.scripts, Ranges: p.ranges, Used: searchdb.Used{},
		Gaps: p.gaps,
	}
	n.Definition = searchdb.Definition{
		Name: q.Name, Owner: q.Owner, Number: s.numbers + 1, Created: s.cfg.Now(), Start: q.Start, Stop: -1,
		BlocksOnly: q.BlocksOnly, Mempool: q.Mempool, Sum: sum,
	}
	if n.Name == "" {
		n.Name = n.ID.String()
	}
	below, err := s.place(n, q)
	if err != nil {
		return messages.SearchCreated{}, err
	}
	n.Status = searchdb.Status{State: search.NewState(below)}
	j := &job{Search: n, shownUsed: searchdb.Used{}}
	if len(n.Gaps) > 0 {
		j.counted = heightSet{}
	}
	s.add(j)
	written := *n // the worker that writes it has a state of its own
	s.writer.change.Create = append(s.writer.change.Create, &written)
	s.dirty(j)
	return messages.SearchCreated{ID: n.ID.String(), Name: n.Name, Created: true}, nil
}

// place sets the blocks of a new search, and returns the one before its first.
func (s *Searches) place(n *searchdb.Search, q *messages.CreateSearch) (below search.Block, err error) {
	below.Height = -1
	reader := s.cfg.Chain.Open()
	if reader == nil {
		return below, messages.ErrBlockNotFound
	}
	active := reader.Active()
	if active.At(q.Start) == nil {
		return below, messages.ErrBlockNotFound
	}
	if q.Start > 0 {
		below = blockOf(active.At(q.Start - 1))
	}
	if q.Follow {
		return below, nil
	}
	stop := active.Tip()
	if q.Stop >= 0 {
		stop = active.At(q.Stop)
	}
	if stop == nil || stop.Height < q.Start {
		return below, messages.ErrBlockNotFound
	}
	n.Stop, n.StopBlock = stop.Height, stop.Hash
	return below, nil
}

// newID returns an id that no search has.
func (s *Searches) newID() searchdb.ID {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		id := searchdb.ID(binary.BigEndian.Uint64(b[:]))
		if s.jobs[id] == nil {
			return id
		}
	}
}

// allow reports the limit that does not allow more scripts, or another search.
func (s *Searches) allow(login string, scripts int, another bool) error {
	l := &s.cfg.Limits
	if another {
		if l.Searches > 0 && len(s.jobs) >= l.Searches {
			return &messages.SearchLimitError{Option: "-maxsearches"}
		}
		own := 0
		for _, j := range s.jobs {
			if j.Owner == login {
				own++
			}
		}
		if l.Quota > 0 && own >= l.Quota {
			return &messages.SearchLimitError{Option: "-searchquota"}
		}
		if l.Entries > 0 && s.found >= l.Entries {
			return &messages.SearchLimitError{Option: "-searchentries"}
		}
	}
	if l.Scripts > 0 && s.scripts+scripts > l.Scripts {
		return &messages.SearchLimitError{Option: "-searchscripts"}
	}
	return nil
}

func (s *Searches) extend(m *extend) {
	s.prepare(func() func() {
		return func() { s.extendNow(m) }
	})
}

// extendNow finds out in a worker which objects are new: nothing else extends meanwhile.
func (s *Searches) extendNow(m *extend) {
	j := s.find(m.Req.ID)
	if j == nil {
		m.Answer(messages.SearchStatus{}, messages.ErrSearchNotFound)
		return
	}
	there, objects, gaps := j.Scripts, j.Objects, j.Gaps
	s.prep.queue = slices.Insert(s.prep.queue, 0, func() func() {
		p, err := kept(&m.Req.Objects, objects, there, gaps)
		return func() {
			if err != nil {
				m.Answer(messages.SearchStatus{}, err)
				return
			}
			s.extended(m, j, p)
		}
	})
}

func (s *Searches) extended(m *extend, j *job, p prepared) {
	if s.jobs[j.ID] != j {
		m.Answer(messages.SearchStatus{}, messages.ErrSearchNotFound)
		return
	}
	if reader := s.cfg.Chain.Open(); reader == nil || m.Req.Start > reader.Active().Height() {
		m.Answer(messages.SearchStatus{}, messages.ErrBlockNotFound)
		return
	}
	if j.Status.Mode == searchdb.Aborted || j.Status.Mode == searchdb.Failed {
		m.Answer(messages.SearchStatus{}, messages.ErrSearchEnded)
		return
	}
	if len(p.scripts) == 0 {
		m.Answer(reading{s}.fullStatus(j), nil)
		return
	}
	if err := s.allow(j.Owner, len(p.scripts), false); err != nil {
		m.Answer(messages.SearchStatus{}, err)
		return
	}
	from := m.Req.Start
	if from < 0 {
		from = j.Start
	}
	usage{s}.join(j, p, from)
	if j.Status.Mode == searchdb.Done {
		s.setMode(j, searchdb.Running, "")
	}
	s.writer.urgent = true
	s.writer.then = append(s.writer.then, func(err error) {
		if err != nil {
			m.Answer(messages.SearchStatus{}, err)
			return
		}
		if s.jobs[j.ID] == j {
			mempool{s}.look(j)
		}
		j.exhausted = exhaustedOf(j.descriptors())
		m.Answer(reading{s}.fullStatus(j), nil)
	})
	s.flush()
	s.plan()
}

// rewind sets the height done of a search to where the scripts that joined begin.
func (s *Searches) rewind(j *job) {
	var at *chainview.Block
	if reader := s.cfg.Chain.Open(); reader != nil {
		at = reader.Lookup(&j.Status.Done.Hash)
	}
	j.Status.Rewind(func(height int32) search.Block {
		if at == nil || height < 0 {
			return search.Block{Height: -1}
		}
		return blockOf(at.Ancestor(height))
	})
}
