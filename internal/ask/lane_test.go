package ask_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// errand asks a courier to have a job of its lane do something.
type errand struct {
	messages.Asks[string]
	do func(*ask.Job) (string, error)
}

// post asks it for what its errands have brought.
type post struct{ messages.Asks[[]string] }

// courier is an actor with one lane.
type courier struct {
	lane    *ask.Lane
	brought []string // races unless the actor alone writes it
}

func newCourier(width int) actor.Producer {
	return func() actor.Actor { return &courier{lane: ask.NewLane(width)} }
}

func (a *courier) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		a.lane.Close()
	case *ask.Call[errand, string]:
		ask.ServeIn(c, a.lane, m, func(j *ask.Job, q errand) (string, error) { return q.do(j) })
	case *ask.Call[post, []string]:
		m.Answer(slices.Clone(a.brought), nil)
	case func(*courier):
		m(a)
	default:
		ask.Unhandled(c)
	}
}

type reply struct {
	got string
	err error
}

// run sends an errand from a goroutine of its own.
func run(ctx context.Context, to *ask.Ref, do func(*ask.Job) (string, error)) <-chan reply {
	answer := make(chan reply, 1)
	go func() {
		got, err := ask.Ask(ctx, to, errand{do: do})
		answer <- reply{got, err}
	}()
	synctest.Wait()
	return answer
}

// silent reports an error if there is an answer.
func silent(t *testing.T, what string, answer <-chan reply) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-answer:
		t.Errorf("%s: answered %q, %v", what, r.got, r.err)
	default:
	}
}

func bubble(t *testing.T, width int, test func(t *testing.T, sys *actortest.System, ref *ask.Ref)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		sys := actortest.New(t)
		test(t, sys, sys.Spawn("courier", newCourier(width)))
	})
}

// hang waits until its job is over.
func hang(j *ask.Job) (string, error) {
	<-j.Context().Done()
	return "", context.Cause(j.Context())
}

// As many jobs run at a time as the lane is wide, in the order in which they came. Meanwhile the actor
// serves others.
func TestLaneWidth(t *testing.T) {
	bubble(t, 2, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
		t.Helper()
		begun := make(chan int, 5)
		var answers []<-chan reply
		for i := range 5 {
			answers = append(answers, run(t.Context(), ref, func(*ask.Job) (string, error) {
				begun <- i
				time.Sleep(time.Duration(2+i%2) * time.Second) // so that no two of them end at a time
				return "done", nil
			}))
		}
		if len(begun) != 2 {
			t.Errorf("%d have begun", len(begun))
		}
		if _, err := ask.Ask(t.Context(), ref, post{}); err != nil {
			t.Error(err)
		}
		for _, answer := range answers {
			if r := <-answer; r.got != "done" || r.err != nil {
				t.Errorf("got %q, %v", r.got, r.err)
			}
		}
		for want := range 5 {
			if got := <-begun; got != want {
				t.Errorf("%d has begun, want %d", got, want)
			}
		}
	})
}

// A job has the actor do something, and asks other actors, in straight code.
func TestJobDoesAndAwaits(t *testing.T) {
	bubble(t, 1, func(t *testing.T, sys *actortest.System, ref *ask.Ref) {
		t.Helper()
		other := sys.Spawn("other", newCourier(1))
		answer := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			got, err := ask.Await(j, other, errand{do: func(*ask.Job) (string, error) {
				time.Sleep(time.Hour)
				return "a letter", nil
			}})
			if err != nil {
				return "", err
			}
			return got, j.Do(func() { ref.Tell(func(a *courier) { a.brought = append(a.brought, got) }) })
		})
		if r := <-answer; r.got != "a letter" || r.err != nil {
			t.Errorf("got %q, %v", r.got, r.err)
		}
		if got, err := ask.Ask(t.Context(), ref, post{}); len(got) != 1 || err != nil {
			t.Errorf("brought %q, %v", got, err)
		}
	})
}

// A caller that leaves ends its job, unless that goes through. Nothing is done for a caller that has left
// before its turn.
func TestJobOfACallerThatLeaves(t *testing.T) {
	bubble(t, 1, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		var ended, through error
		first := run(ctx, ref, func(j *ask.Job) (string, error) {
			_, ended = hang(j)
			if err := j.Do(func() { t.Error("done for nobody") }); !errors.Is(err, context.Canceled) {
				t.Errorf("Do: %v", err)
			}
			through = j.Through().Do(func() {})
			time.Sleep(time.Second)
			return "", ended
		})
		second := run(ctx, ref, func(*ask.Job) (string, error) {
			t.Error("begun for nobody")
			return "", nil
		})
		leave()
		for _, answer := range []<-chan reply{first, second} {
			if r := <-answer; !errors.Is(r.err, context.Canceled) {
				t.Errorf("got %v", r.err)
			}
		}
		third := run(t.Context(), ref, func(*ask.Job) (string, error) { return "served", nil })
		if r := <-third; r.got != "served" || r.err != nil {
			t.Errorf("the next one: %q, %v", r.got, r.err)
		}
		if !errors.Is(ended, context.Canceled) || through != nil {
			t.Errorf("ended %v, through %v", ended, through)
		}
	})
}

// Work until something else ends has the reason of that, and the job goes on afterwards.
func TestJobUntil(t *testing.T) {
	bubble(t, 1, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
		t.Helper()
		broken := errors.New("aborted")
		limit, abort := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { abort(broken) })
		answer := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			err := j.Until(limit, func(j *ask.Job) error {
				_, err := hang(j)
				return err
			})
			if !errors.Is(err, broken) {
				t.Errorf("ended with %v", err)
			}
			return "went on", j.Do(func() {})
		})
		if r := <-answer; r.got != "went on" || r.err != nil {
			t.Errorf("got %q, %v", r.got, r.err)
		}
	})
}

// Work until a channel is closed has the given reason. It leaves nothing behind where it ends before.
func TestJobUntilClosed(t *testing.T) {
	bubble(t, 1, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
		t.Helper()
		broken, closed := errors.New("aborted"), make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(closed) })
		answer := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			if err := j.UntilClosed(closed, broken, func(j *ask.Job) error { return j.Do(func() {}) }); err != nil {
				t.Errorf("ended with %v", err)
			}
			err := j.UntilClosed(closed, broken, func(j *ask.Job) error {
				_, err := hang(j)
				return err
			})
			if !errors.Is(err, broken) {
				t.Errorf("ended with %v", err)
			}
			return "went on", j.Do(func() {})
		})
		if r := <-answer; r.got != "went on" || r.err != nil {
			t.Errorf("got %q, %v", r.got, r.err)
		}
	})
}

// A panic of a job, or of what the actor does for it, is a panic of the actor. All callers are answered
// once, the other jobs end, and nothing of these jobs reaches the next instance.
func TestJobPanics(t *testing.T) {
	for name, do := range map[string]func(*ask.Job) (string, error){
		"job":   func(*ask.Job) (string, error) { panic("in the job") },
		"actor": func(j *ask.Job) (string, error) { return "", j.Do(func() { panic("in the actor") }) },
		"waits": func(j *ask.Job) (string, error) {
			return "", j.Do(func() { _ = j.Do(func() {}) })
		},
		"asks": func(j *ask.Job) (string, error) {
			return "", j.Do(func() { _, _ = ask.Await(j, nil, post{}) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
				t.Helper()
				ended := 0
				hangs := func(j *ask.Job) (string, error) {
					_, err := hang(j)
					ended++
					if err := j.Do(func() { t.Error("the next instance does the work") }); err == nil {
						t.Error("it was done")
					}
					return "", err
				}
				beside := run(t.Context(), ref, hangs)
				failing := run(t.Context(), ref, func(j *ask.Job) (string, error) {
					time.Sleep(time.Second)
					return do(j)
				})
				waiting := run(t.Context(), ref, func(*ask.Job) (string, error) {
					t.Error("begun")
					return "", nil
				})
				for _, answer := range []<-chan reply{beside, failing, waiting} {
					if r := <-answer; !errors.Is(r.err, ask.ErrRestarted) {
						t.Errorf("got %q, %v", r.got, r.err)
					}
				}
				next := run(t.Context(), ref, func(*ask.Job) (string, error) { return "served", nil })
				if r := <-next; r.got != "served" || r.err != nil || ended != 1 {
					t.Errorf("the next instance: %q, %v; %d jobs have ended", r.got, r.err, ended)
				}
			})
		})
	}
}

// An actor that stops ends its jobs and waits until they return. Callers are told that the actor has stopped,
// unless a job has come to its end.
func TestLaneOfAStoppingActor(t *testing.T) {
	bubble(t, 3, func(t *testing.T, _ *actortest.System, ref *ask.Ref) {
		t.Helper()
		ended := false
		hanging := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			_, err := hang(j)
			time.Sleep(time.Hour)
			ended = true
			return "", err
		})
		finishing := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			_, _ = hang(j)
			return "finished", nil
		})
		doing := run(t.Context(), ref, func(j *ask.Job) (string, error) {
			_, _ = hang(j)
			return "", j.Through().Do(func() { t.Error("done by an actor that has stopped") })
		})
		queued := run(t.Context(), ref, func(j *ask.Job) (string, error) { return hang(j) })
		silent(t, "hanging", hanging)
		if err := ref.Stop(t.Context()); err != nil || !ended {
			t.Errorf("stopped with %v, the job has ended: %v", err, ended)
		}
		for _, answer := range []<-chan reply{hanging, doing, queued} {
			if r := <-answer; !errors.Is(r.err, ask.ErrStopped) {
				t.Errorf("got %q, %v", r.got, r.err)
			}
		}
		if r := <-finishing; r.got != "finished" || r.err != nil {
			t.Errorf("got %q, %v", r.got, r.err)
		}
	})
}

// A step of a job is a message of its own, which middleware sees: tests have the actor fail over steps.
func TestStepsAreMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		sys := actortest.New(t)
		steps, fails := 0, true
		ref, err := ask.Spawn(sys.Root, sys.Log, "courier", 4, newCourier(1), nil,
			actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
				return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
					if fmt.Sprintf("%T", env.Message) == "ask.step" {
						if steps++; fails {
							panic("before the step")
						}
					}
					next(c, env)
				}
			}))
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		does := func(j *ask.Job) (string, error) { return "done", j.Do(func() { done++ }) }
		if r := <-run(t.Context(), ref, does); !errors.Is(r.err, ask.ErrRestarted) || steps != 1 || done != 0 {
			t.Errorf("got %v after %d steps, done %d times", r.err, steps, done)
		}
		fails = false
		if r := <-run(t.Context(), ref, does); r.err != nil || done != 1 {
			t.Errorf("got %v, done %d times", r.err, done)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
