package keys

import (
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// annotatedRecords returns the written annotations, by their descriptors.
func (r *rig) annotatedRecords(t *testing.T) (all []walletfile.Annotations) {
	t.Helper()
	for _, change := range r.log.Take() {
		entry, err := walletfile.Parse(walletfile.Record{Key: change.Key, Value: change.Value})
		if a, is := entry.(walletfile.Annotations); err == nil && is {
			all = append(all, a)
		}
	}
	return all
}

// An imported descriptor keeps its annotations: its scripts are derived as far ahead as its gap limit says, now and
// when some are used. Importing it again changes what is told.
func TestAnnotatedImport(t *testing.T) {
	r := newRig(false)
	plain := "wpkh(" + expandingXpub + "/0/*)"
	annotated := func(tail string) messages.ImportItem {
		return messages.ImportItem{Desc: descriptor.AddChecksum(plain + tail)}
	}
	list := func() messages.WalletDescriptor {
		t.Helper()
		all, err := r.set.ListDescriptors(false)
		if err != nil || len(all) != 1 || string(all[0].Desc) != descriptor.AddChecksum(plain) {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0]
	}
	numbers := func(d *messages.WalletDescriptor) (n [3]int) {
		for i, v := range []*uint64{d.BirthHeight, d.GapLimit, d.MaxLabel} {
			if n[i] = -1; v != nil {
				n[i] = int(*v)
			}
		}
		return n
	}
	r.importOne(t, annotated("?bh=7&gl=250&zz=1"))
	if d := list(); numbers(&d) != [3]int{7, 250, -1} || d.Last != 249 {
		t.Errorf("%v, %+v", numbers(&d), d)
	}
	if written := r.annotatedRecords(t); len(written) != 1 || *written[0].GapLimit != 250 {
		t.Errorf("written %+v", written)
	}
	r.pool.Used(expandOf(t, plain, 10)[9])
	if d := list(); d.Last != 259 {
		t.Errorf("up to %d after index 9 is used", d.Last)
	}
	again := annotated("?gl=300&ml=0")
	again.Range = &[2]int64{0, 400}
	r.importOne(t, again)
	if d := list(); numbers(&d) != [3]int{7, 300, 0} || d.Last != 400 {
		t.Errorf("%v, %+v", numbers(&d), d)
	}
	_ = r.annotatedRecords(t)
	without := annotated("")
	without.Range = &[2]int64{0, 400}
	r.importOne(t, without)
	if d := list(); numbers(&d) != [3]int{7, 300, 0} || len(r.annotatedRecords(t)) != 0 {
		t.Errorf("%v, %+v", numbers(&d), d)
	}
}

// A gap limit below the key pool derives no less, and others than those that are taken are refused.
func TestAnnotatedLimits(t *testing.T) {
	r := newRig(false)
	plain := "wpkh(" + expandingXpub + "/0/*)"
	for tail, want := range map[string]string{
		"?gl=100001": "gl of a descriptor must not be above 100000",
		"?gl=x":      "'gl=x' is not a valid annotation",
		"?gl=1&gl=1": "Annotation 'gl' is given twice",
	} {
		item := messages.ImportItem{Desc: descriptor.AddChecksum(plain + tail)}
		done, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{})
		if err != nil || done.Results[0].Err == nil || done.Results[0].Err.Text != want {
			t.Errorf("%s: %+v, %v", tail, done.Results[0].Err, err)
		}
	}
	missing := messages.ImportItem{Desc: plain + "?gl=30"}
	done, err := r.importer.Import([]messages.ImportItem{missing}, ImportTimes{})
	if err != nil || done.Results[0].Err == nil || done.Results[0].Err.Code != codes.AddressOrKey ||
		done.Results[0].Err.Text != "Missing checksum" {
		t.Errorf("%+v, %v", done.Results[0].Err, err)
	}
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(plain + "?gl=30")})
	all, err := r.set.ListDescriptors(false)
	if err != nil || len(all) != 1 || all[0].Last != 99 {
		t.Errorf("%+v, %v", all, err)
	}
}
