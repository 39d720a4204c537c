package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	openPages    = 1000
	pageSearches = 10
	pageScripts  = 20_000 // of each search, so that it runs for a while
	pageRun      = 20 * time.Second

	// pagePause is the least time between two requests of a page for news. After pageEvery a
	// page asks without an event while something runs.
	pagePause = time.Second
	pageEvery = 2 * time.Second
)

// BenchmarkPage measures the cost of 1,000 open pages while 10 searches run. Each page is loaded once,
// holds a stream of events, and asks again for the overview after events, as the page's script does. It
// also measures how long another caller waits for a small call. The row pages=0 is the same without pages.
func BenchmarkPage(b *testing.B) {
	binary := buildDaemon(b)
	chain := blockFile(b)
	objects := searchObjects(pageSearches, pageScripts)
	for _, pages := range []int{0, openPages} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			figures := map[string][]float64{}
			for b.Loop() {
				v := startVictim(b, binary, pageDir(b), "-blockfilterindex=1", "-searchroom=1", "-loadblock="+chain)
				v.waitLoaded(b)
				ctx, stop := context.WithCancel(b.Context())
				open := &browsers{addr: v.addr}
				open.start(ctx, b, pages)
				s := &searcher{b, &v.peer}
				var group sync.WaitGroup
				for n := range pageSearches {
					group.Go(func() { s.again(ctx, objects[n]) })
				}
				before, _ := processUse(v.pid)
				began := time.Now()
				var times []time.Duration
				for time.Since(began) < pageRun {
					asked := time.Now()
					s.call(nil, "getblockcount")
					times = append(times, time.Since(asked))
					time.Sleep(10 * time.Millisecond)
				}
				after, peak := processUse(v.pid)
				asked := open.count()
				stop()
				group.Wait()
				open.group.Wait()
				note := func(name string, value float64) { figures[name] = append(figures[name], value) }
				note("cpu-ms/s", milliseconds(after-before)/time.Since(began).Seconds())
				note("peak-MB", float64(peak)/1e6)
				note("parts/s", float64(asked)/pageRun.Seconds())
				reportTimes(b, "", times)
				v.stop()
			}
			reportFigures(b, figures)
		})
	}
}

// pageDir is a data directory with logins for the pages: one has so many streams of events at most.
func pageDir(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	var lines strings.Builder
	lines.WriteString("regtest=1\n[regtest]\n")
	for n := range openPages / readersALogin {
		fmt.Fprintf(&lines, "rpcauth=%s\n", rpcAuth(n))
	}
	if err := os.WriteFile(filepath.Join(dir, "bitcoin.conf"), []byte(lines.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// again has a search run from its beginning to its end, until ctx ends.
func (s *searcher) again(ctx context.Context, objects []any) {
	for ctx.Err() == nil {
		var made struct{ ID string }
		if err := s.p.Call(ctx, &made, "createsearch", objects); err != nil {
			if ctx.Err() == nil {
				s.b.Error(err)
			}
			return
		}
		for page := (searchPage{}); ctx.Err() == nil && page.State != "done"; {
			cursor := page.Cursor
			page = searchPage{}
			if err := s.p.Call(ctx, &page, "waitforsearch", made.ID, cursor, 1000); err != nil && ctx.Err() == nil {
				s.b.Error(err)
				return
			}
		}
		_ = s.p.Call(context.WithoutCancel(ctx), nil, "removesearch", made.ID)
	}
}

// browsers are open pages.
type browsers struct {
	addr  string
	group sync.WaitGroup

	mu    sync.Mutex
	parts int // that were asked for
}

func (p *browsers) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts
}

// start opens pages and returns when all hear of events.
func (p *browsers) start(ctx context.Context, b *testing.B, pages int) {
	b.Helper()
	opened := make(chan error, pages)
	for n := range pages {
		p.group.Go(func() {
			news := make(chan struct{}, 1)
			stream, err := p.open(ctx, n)
			opened <- err
			if err != nil {
				return
			}
			defer stream.Close()
			p.group.Go(func() { p.refresh(ctx, b, n, news) })
			for lines := bufio.NewScanner(stream); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event: ") {
					select {
					case news <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	for range pages {
		if err := <-opened; err != nil {
			b.Fatal(err)
		}
	}
}

// get asks for something as the page's login.
func (p *browsers) get(ctx context.Context, n int, path, tag string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(fmt.Sprintf("reader%d", n/readersALogin), "bench")
	request.Header.Set("Accept", "text/html")
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	return http.DefaultTransport.RoundTrip(request)
}

// open loads the page and its files, and opens its stream.
func (p *browsers) open(ctx context.Context, n int) (io.ReadCloser, error) {
	for _, path := range []string{
		"/", "/ui/assets/page.css", "/ui/assets/page.js", "/ui/assets/calls.js", "/ui/assets/hub.js",
		"/ui/assets/morph.js", "/ui/assets/events.js", "/ui/assets/box.js", "/ui/assets/lost.js", "/ui/assets/plot.js",
	} {
		reply, err := p.get(ctx, n, path, "")
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, reply.Body)
		_ = reply.Body.Close()
		if err != nil || reply.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s is answered with %s: %w", path, reply.Status, err)
		}
	}
	reply, err := p.get(ctx, n, "/ui/events?topics=tip,peer,scan,wallet,search", "")
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		_ = reply.Body.Close()
		return nil, fmt.Errorf("the stream is answered with %s", reply.Status)
	}
	return reply.Body, nil
}

// refresh asks for the overview after news, as the page's script does.
func (p *browsers) refresh(ctx context.Context, b *testing.B, n int, news <-chan struct{}) {
	b.Helper()
	tag := ""
	for {
		select {
		case <-news:
		case <-time.After(pageEvery):
		case <-ctx.Done():
			return
		}
		reply, err := p.get(ctx, n, "/ui/part/index", tag)
		if err != nil {
			if ctx.Err() == nil {
				b.Error(err)
			}
			return
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		_ = reply.Body.Close()
		if reply.StatusCode != http.StatusOK && reply.StatusCode != http.StatusNotModified {
			b.Errorf("the overview is answered with %s", reply.Status)
			return
		}
		tag = reply.Header.Get("Etag")
		p.mu.Lock()
		p.parts++
		p.mu.Unlock()
		select {
		case <-time.After(pagePause):
		case <-ctx.Done():
			return
		}
	}
}
