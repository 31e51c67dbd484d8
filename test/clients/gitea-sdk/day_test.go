// Package day is a working day with the Go SDK of Gitea against a running Croft. The SDK decodes every answer into strict
// types, so a number sent as a string, an object where a list is due or a time in another format fails here.
//
// It takes from the environment: CROFT_URL, and the access tokens CROFT_ADA, CROFT_BEN and CROFT_ROOT (an administrator).
package day

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"
)

// The parts of the day build on one another, in this order.
func TestDay(t *testing.T) {
	for _, part := range []struct {
		name string
		run  func()
	}{
		{"server", server},
		{"accounts", accounts},
		{"programs", programs},
		{"organizations", organizations},
		{"teams", teams},
		{"repositories", repositories},
		{"sharing", sharing},
		{"files", files},
		{"git", gitData},
		{"branches", branches},
		{"releases", releases},
		{"labels and milestones", labelsAndMilestones},
		{"issues", issues},
		{"comments", comments},
		{"attachments", attachments},
		{"time", trackedTime},
		{"pull requests", pullRequests},
		{"reviews", reviews},
		{"hooks", hooks},
		{"notifications", notifications},
		{"paging", paging},
		{"clearing up", clearingUp},
		{"what was left out", leftOut},
	} {
		if !t.Run(part.name, func(t *testing.T) { current = t; part.run() }) {
			return
		}
	}
}

var (
	current        *testing.T
	address        = os.Getenv("CROFT_URL")
	ada, ben, root = client("CROFT_ADA"), client("CROFT_BEN"), client("CROFT_ROOT")
	// The SDK's methods that were answered well.
	called = map[string]bool{}
)

func client(variable string) *gitea.Client {
	made, err := gitea.NewClient(address, gitea.SetToken(os.Getenv(variable)), noting)
	if err != nil {
		panic(err)
	}
	return made
}

var noting = gitea.SetHTTPClient(&http.Client{Transport: notes{}, Timeout: time.Minute})

// notes sends requests, and notes which method of the SDK made those that were answered well.
type notes struct{}

func (notes) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || response.StatusCode/100 != 2 {
		return response, err
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if _, method, found := strings.Cut(frame.Function, "gitea.(*Client)."); found {
			called[method] = true
		}
	}
	return response, nil
}

// must unwraps what a call of the SDK answers.
func must[T any](value T, _ *gitea.Response, err error) T {
	current.Helper()
	if err != nil {
		current.Fatal(err)
	}
	return value
}

// done is must for calls that answer nothing.
func done(_ *gitea.Response, err error) {
	current.Helper()
	if err != nil {
		current.Fatal(err)
	}
}

// refused expects that status.
func refused(status int, response *gitea.Response, err error) {
	current.Helper()
	if response == nil || response.StatusCode != status {
		current.Fatalf("not refused with %d: %v", status, err)
	}
}

func equal[T any](got, want T) {
	current.Helper()
	if !reflect.DeepEqual(got, want) {
		current.Fatalf("got %+v, want %+v", got, want)
	}
}

func check(holds bool, format string, values ...any) {
	current.Helper()
	if !holds {
		current.Fatalf(format, values...)
	}
}

func recent(moment time.Time) {
	current.Helper()
	check(time.Since(moment).Abs() < 10*time.Minute, "%v is long ago", moment)
}

// eventually waits for what happens soon after an answer.
func eventually(what string, holds func() bool) {
	current.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		check(time.Now().Before(deadline), "not %s", what)
	}
}

// each makes a list of one thing about every entry.
func each[T, U any](list []T, of func(T) U) []U {
	about := make([]U, 0, len(list))
	for _, entry := range list {
		about = append(about, of(entry))
	}
	return about
}

func login(user *gitea.User) string             { return user.UserName }
func fullName(repo *gitea.Repository) string    { return repo.FullName }
func number(issue *gitea.Issue) int64           { return issue.Index }
func labelName(label *gitea.Label) string       { return label.Name }
func attachmentName(a *gitea.Attachment) string { return a.Name }

func sorted(list []string) []string { slices.Sort(list); return list }
func encoded(text string) string    { return base64.StdEncoding.EncodeToString([]byte(text)) }

// leftOut compares the methods of the SDK that were never answered well with the list of them.
func leftOut() {
	var left []string
	methods := reflect.TypeFor[*gitea.Client]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !called[name] && !strings.HasPrefix(name, "Set") && name != "SignRequest" && name != "CheckServerVersionConstraint" {
			left = append(left, name)
		}
	}
	listed, err := os.ReadFile("left-out.txt")
	if err != nil {
		current.Fatal(errors.Join(err, os.WriteFile("left-out.txt", []byte(strings.Join(left, "\n")+"\n"), 0o644)))
	}
	fmt.Printf("%d methods of the SDK were answered\n", len(called))
	equal(left, strings.Fields(string(listed)))
}
