package link

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// target is a link under attack by somebody who knows the secret.
type target struct{ *node }

func newTarget() target { return target{all()["target"]} }

// attacker is a stream to the target.
type attacker struct {
	stream remote.Remoting_ReceiveClient
	client remote.RemotingClient
}

const attackerAddress = "127.0.0.1:9"

func (t target) attack(tb testing.TB, ctx context.Context) *attacker {
	tb.Helper()
	address, _ := t.State()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(t.conf.tls())))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	a := &attacker{client: remote.NewRemotingClient(conn)}
	if a.stream, err = a.client.Receive(ctx); err != nil {
		tb.Fatal(err)
	}
	return a
}

func (a *attacker) connect(address string) error {
	return a.stream.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{
		ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ServerConnection{
			ServerConnection: &remote.ServerConnection{Address: address, SystemId: "x"},
		}},
	}})
}

func (a *attacker) batch(b *remote.MessageBatch) error {
	return a.stream.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}})
}

// good is a batch with a frame that has to be taken.
func good(name string, m proto.Message) *remote.MessageBatch {
	data, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return &remote.MessageBatch{
		TypeNames: []string{name}, Targets: []*actor.PID{{Address: "whatever", Id: actorName}},
		Senders:   []*actor.PID{{Address: attackerAddress, Id: actorName}},
		Envelopes: []*remote.MessageEnvelope{{MessageData: data, Sender: 1}},
	}
}

// alive fails unless the target takes a frame of an honest peer.
func (t target) alive(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	a := t.attack(tb, ctx)
	if err := a.connect(attackerAddress); err != nil {
		tb.Fatal(err)
	}
	if err := a.batch(good(frameType, wrapperspb.Bytes([]byte("alive")))); err != nil {
		tb.Fatal(err)
	}
	for {
		select {
		case f := <-t.frames:
			if strings.HasSuffix(f, " alive") {
				return
			}
		case <-time.After(30 * time.Second):
			tb.Fatal("the link does not serve any more")
		}
	}
}

// What ends a process with remote, or reaches other actors, is dropped and counted.
func TestHostilePeer(t *testing.T) {
	change := func(name string, m proto.Message, f func(b *remote.MessageBatch)) *remote.MessageBatch {
		b := good(name, m)
		f(b)
		return b
	}
	frame := wrapperspb.Bytes([]byte("bad"))
	other := &actor.PID{Address: "127.0.0.1:1", Id: actorName}
	for name, b := range map[string]*remote.MessageBatch{
		"an unknown type":  good("trawl.NoSuchType", frame),
		"no type":          change(frameType, frame, func(b *remote.MessageBatch) { b.TypeNames = nil }),
		"a type below":     change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = -1 }),
		"a target above":   change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].Target = 7 }),
		"a target below":   change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].Target = -7 }),
		"no target":        change(frameType, frame, func(b *remote.MessageBatch) { b.Targets[0] = nil }),
		"a sender above":   change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].Sender = 2 }),
		"no sender":        change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].Sender = 0 }),
		"an empty sender":  change(frameType, frame, func(b *remote.MessageBatch) { b.Senders[0] = nil }),
		"another's sender": change(frameType, frame, func(b *remote.MessageBatch) { b.Senders[0] = other }),
		"JSON":             change(frameType, frame, func(b *remote.MessageBatch) { b.Envelopes[0].SerializerId = 1 }),
		"a large frame":    good(frameType, wrapperspb.Bytes(make([]byte, MaxFrame+1))),
		"Stop":             good(typeOf(&actor.Stop{}), &actor.Stop{}),
		"PoisonPill":       good(typeOf(&actor.PoisonPill{}), &actor.PoisonPill{}),
		"another's watch":  good(watchType, &actor.Watch{Watcher: other}),
		"nobody's watch":   good(watchType, &actor.Watch{}),
		"another's end":    good(terminatedType, &actor.Terminated{Who: other}),
		"garbage for a watch": change(watchType, &actor.Watch{}, func(b *remote.MessageBatch) {
			b.Envelopes[0].MessageData = []byte{0xff}
		}),
		"the supervisor": change(frameType, frame, func(b *remote.MessageBatch) {
			b.Targets[0].Id = "EndpointSupervisor"
		}),
		"the spawning of more": change(typeOf(&remote.ActorPidRequest{}), frame, func(b *remote.MessageBatch) {
			b.Targets[0].Id = "activator"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			l := newTarget()
			before := l.refused.Load()
			a := l.attack(t, t.Context())
			if err := a.connect(attackerAddress); err != nil {
				t.Fatal(err)
			}
			if err := a.batch(b); err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(30 * time.Second); l.refused.Load() == before; {
				if time.Now().After(end) {
					t.Fatal("it was not refused")
				}
				<-time.After(time.Millisecond)
			}
			l.alive(t)
		})
	}
}

// Calls beside the stream, which remote panics over, and streams that begin otherwise are
// refused.
func TestHostileCalls(t *testing.T) {
	l := newTarget()
	a := l.attack(t, t.Context())
	if _, err := a.client.ListProcesses(t.Context(), &remote.ListProcessesRequest{}); err == nil {
		t.Error("processes are listed")
	}
	if _, err := a.client.GetProcessDiagnostics(t.Context(), &remote.GetProcessDiagnosticsRequest{}); err == nil {
		t.Error("processes are shown")
	}
	own, _ := l.State()
	for name, do := range map[string]func(a *attacker){
		"a batch first":     func(a *attacker) { _ = a.batch(good(frameType, wrapperspb.Bytes(nil))) },
		"the target itself": func(a *attacker) { _ = a.connect(own) },
		"no address":        func(a *attacker) { _ = a.connect("") },
		"twice":             func(a *attacker) { _, _ = a.connect("a:1"), a.connect("b:1") },
		"nothing":           func(a *attacker) { _ = a.stream.Send(&remote.RemoteMessage{}) },
		"a client": func(a *attacker) {
			_ = a.stream.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{
				ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ClientConnection{}},
			}})
		},
		"an empty batch": func(a *attacker) { _, _ = a.connect("a:1"), a.batch(nil) },
	} {
		before := l.refused.Load()
		a := l.attack(t, t.Context())
		do(a)
		for end := time.Now().Add(30 * time.Second); l.refused.Load() == before && name != "an empty batch"; {
			if time.Now().After(end) {
				t.Fatal(name, "is not refused")
			}
			<-time.After(time.Millisecond)
		}
		l.alive(t)
	}
}

// Any message over a real stream leaves the link alive, and no other actor hears of it.
func FuzzStream(f *testing.F) {
	l := newTarget()
	seed, _ := proto.Marshal(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{
		MessageBatch: good(watchType, &actor.Watch{Watcher: &actor.PID{Address: attackerAddress, Id: actorName}}),
	}})
	f.Add(seed)
	seed, _ = proto.Marshal(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{
		MessageBatch: good(frameType, wrapperspb.Bytes([]byte("x"))),
	}})
	f.Add(seed)
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m remote.RemoteMessage
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := l.attack(t, ctx)
		if err := a.connect(attackerAddress); err != nil {
			t.Fatal(err)
		}
		_ = a.stream.Send(&m)
		l.alive(t)
	})
}
