package feeestimate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A Form is what versions of Bitcoin Core have otherwise in their buckets and files.
type Form struct {
	Lowest  float64 // the bound of the first bucket, in satoshis per 1,000 virtual bytes
	Version int32   // which the file begins with
	Spare   bool    // a number that means nothing follows it
}

// Core30 is the form since Bitcoin Core 0.14.99, Core31 that since 30.99.
var (
	Core30 = Form{Lowest: 1000, Version: 149900, Spare: true}
	Core31 = Form{Lowest: 100, Version: 309900}
)

// maxBuckets is how many buckets a file may have.
const maxBuckets = 1000

// Errors of [Form.Decode].
var (
	ErrDamaged    = errors.New("fee estimates are damaged")
	ErrOldVersion = errors.New("fee estimates are of an incompatible old version")
	ErrNewVersion = errors.New("fee estimates are of a later version")
)

// order is that of the horizons in the file.
var order = [...]Horizon{Medium, Short, Long}

// Encode returns the content of a file fee_estimates.dat. Transactions that wait for their
// confirmation are not in it.
func (e *Estimator) Encode() []byte {
	first, best := e.fromFile[0], e.fromFile[1]
	if e.span() > e.fileSpan()/2 {
		first, best = e.first, e.best
	}
	w := encoder{}
	w.numbers(uint32(e.form.Version))
	if e.form.Spare {
		w.numbers(0)
	}
	w.numbers(e.best, first, best)
	w.list(e.bounds)
	for _, h := range order {
		s := e.history[h]
		w.double(s.decay)
		w.numbers(uint32(s.scale))
		w.list(s.rates)
		w.list(s.confirmed)
		w.lists(s.within)
		w.lists(s.failed)
	}
	return w.text
}

type encoder struct{ text []byte }

func (w *encoder) numbers(list ...uint32) {
	for _, n := range list {
		w.text = binary.LittleEndian.AppendUint32(w.text, n)
	}
}

func (w *encoder) double(f float64) {
	w.text = binary.LittleEndian.AppendUint64(w.text, math.Float64bits(f))
}

func (w *encoder) count(n int) {
	if n < 0xfd {
		w.text = append(w.text, byte(n))
		return
	}
	w.text = binary.LittleEndian.AppendUint16(append(w.text, 0xfd), uint16(n)) // at most 1,008
}

func (w *encoder) list(list []float64) {
	w.count(len(list))
	for _, f := range list {
		w.double(f)
	}
}

func (w *encoder) lists(lists [][]float64) {
	w.count(len(lists))
	for _, list := range lists {
		w.list(list)
	}
}

// Decode reads the content of a file fee_estimates.dat of the form, ours or Bitcoin Core's, with at most 50 MB
// of memory. Bytes after the estimates are not read.
//
// Errors: [ErrDamaged], [ErrOldVersion], [ErrNewVersion], and those of r.
func (f Form) Decode(r io.Reader) (*Estimator, error) {
	d := &decoder{r: bufio.NewReader(r)}
	e := &Estimator{form: f, tracked: map[chainhash.Hash]tracked{}}
	version := int32(d.number())
	if f.Spare {
		d.number()
	}
	e.best = d.number()
	switch {
	case d.err != nil:
		return nil, d.err
	case version > f.Version:
		return nil, fmt.Errorf("%w: %d", ErrNewVersion, version)
	case version < f.Version:
		return nil, fmt.Errorf("%w: %d", ErrOldVersion, version)
	}
	e.fromFile = [2]uint32{d.number(), d.number()}
	d.check(e.fromFile[0] <= e.fromFile[1] && e.fromFile[1] <= e.best, "the range of blocks")
	e.bounds = d.bounds()
	for _, h := range order {
		e.history[h] = d.history(len(e.bounds))
	}
	if d.err != nil {
		return nil, d.err
	}
	return e, nil
}

// decoder reads until something is wrong.
type decoder struct {
	r   *bufio.Reader
	err error
}

// check notes that something is not as it may be.
func (d *decoder) check(ok bool, what string) {
	if d.err == nil && !ok {
		d.err = fmt.Errorf("%w: %s", ErrDamaged, what)
	}
}

func (d *decoder) read(buf []byte) {
	if d.err != nil {
		return
	}
	_, d.err = io.ReadFull(d.r, buf)
	if errors.Is(d.err, io.EOF) || errors.Is(d.err, io.ErrUnexpectedEOF) {
		d.err = fmt.Errorf("%w: cut off", ErrDamaged)
	}
}

func (d *decoder) number() uint32 {
	var buf [4]byte
	d.read(buf[:])
	return binary.LittleEndian.Uint32(buf[:])
}

func (d *decoder) double() float64 {
	var buf [8]byte
	d.read(buf[:])
	return math.Float64frombits(binary.LittleEndian.Uint64(buf[:]))
}

// count reads how many of something follow, at most limit.
func (d *decoder) count(limit int, what string) int {
	if d.err != nil {
		return 0
	}
	n, err := wire.ReadVarInt(d.r, 0)
	if err != nil {
		d.check(false, what)
		return 0
	}
	d.check(n <= uint64(limit), what)
	if d.err != nil {
		return 0
	}
	return int(n)
}

// list reads exactly n averages, none of them negative.
func (d *decoder) list(n int, what string) []float64 {
	d.check(d.count(n, what) == n, what)
	list := make([]float64, n)
	for i := 0; i < n && d.err == nil; i++ {
		list[i] = d.double()
		d.check(list[i] >= 0 && !math.IsInf(list[i], 0), what)
	}
	return list
}

// bounds reads those of the buckets, which go up.
func (d *decoder) bounds() []float64 {
	n := d.count(maxBuckets, "the number of buckets")
	d.check(n > 1, "the number of buckets")
	bounds := make([]float64, n)
	for i := 0; i < n && d.err == nil; i++ {
		bounds[i] = d.double()
		rises := bounds[i] >= 0 && (i == 0 || bounds[i] > bounds[i-1])
		d.check(rises && !math.IsInf(bounds[i], 0), "the bounds of buckets")
	}
	return bounds
}

func (d *decoder) history(buckets int) *history {
	s := &history{decay: d.double(), scale: int(d.number())}
	d.check(s.decay > 0 && s.decay < 1, "the decay")
	d.check(s.scale > 0 && s.scale <= MaxTarget, "the scale")
	s.rates = d.list(buckets, "the rates")
	s.confirmed = d.list(buckets, "the confirmed transactions")
	periods := d.count(MaxTarget, "the number of periods")
	d.check(periods > 0 && periods*s.scale <= MaxTarget, "the number of periods")
	s.within = d.lists(periods, buckets, "the transactions confirmed in time")
	d.check(d.count(periods, "the number of periods") == periods, "the number of periods")
	s.failed = d.lists(periods, buckets, "the transactions that failed")
	if d.err == nil {
		s.makeWaiting()
	}
	return s
}

func (d *decoder) lists(n, buckets int, what string) (lists [][]float64) {
	for range n {
		if d.err == nil {
			lists = append(lists, d.list(buckets, what))
		}
	}
	return lists
}
