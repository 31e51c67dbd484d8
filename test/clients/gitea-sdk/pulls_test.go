package day

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"
)

func index(pull *gitea.PullRequest) int64 { return pull.Index }

func pullRequests() {
	made := must(ben.CreatePullRequest("ada", "garden", gitea.CreatePullRequestOption{
		Head: "beds/spring", Base: "main", Title: "Spring beds", Body: "closes #3", Labels: []int64{bug.ID},
		Milestone: spring.ID, Assignees: []string{"ada"},
	}))
	equal(made.Head.Ref+" "+made.Base.Ref, "beds/spring main")
	check(made.Mergeable && !made.HasMerged && len(made.Head.Sha) == 40 && len(made.MergeBase) == 40, "%+v", made)
	recent(*made.Created)
	equal(must(ben.GetPullRequest("ada", "garden", made.Index)).Title, "Spring beds")
	body := "closes #3, and more"
	edited := must(ada.EditPullRequest("ada", "garden", made.Index, gitea.EditPullRequestOption{Title: "Beds", Body: &body, Labels: []int64{bug.ID}}))
	equal(edited.Title+edited.Body, "Beds"+body)
	equal(each(edited.Labels, labelName), []string{"bug"})
	open := gitea.ListPullRequestsOptions{State: gitea.StateOpen, Sort: "recentupdate", Milestone: spring.ID}
	equal(each(must(ada.ListRepoPullRequests("ada", "garden", open)), index), []int64{made.Index})
	done(ada.PinIssue("ada", "garden", made.Index))
	equal(each(must(ada.ListRepoPinnedPullRequests("ada", "garden")), index), []int64{made.Index})
	check(strings.Contains(string(must(ada.GetPullRequestDiff("ada", "garden", made.Index, gitea.PullRequestDiffOptions{Binary: true}))), "+++ b/a.txt"), "no diff")
	check(strings.HasPrefix(string(must(ada.GetPullRequestPatch("ada", "garden", made.Index))), "From "), "no patch")

	// Checked out the way tea does it: the head of a pull request is a reference of the repository.
	work := filepath.Join(current.TempDir(), "checkout")
	git("clone", "--quiet", cloneURL("ada/garden"), work)
	git("-C", work, "fetch", "--quiet", "origin", fmt.Sprintf("refs/pull/%d/head:beds", made.Index))
	equal(git("-C", work, "rev-parse", "beds"), made.Head.Sha)

	check(!must(ada.IsPullRequestMerged("ada", "garden", made.Index)), "merged already")
	yes := true
	check(must(ada.MergePullRequest("ada", "garden", made.Index, gitea.MergePullRequestOption{
		Style: gitea.MergeStyleMerge, Title: "Spring", HeadCommitId: made.Head.Sha, DeleteBranchAfterMerge: &yes,
	})), "not merged")
	check(must(ada.IsPullRequestMerged("ada", "garden", made.Index)), "not merged")
	merged := must(ada.GetPullRequest("ada", "garden", made.Index))
	equal(merged.MergedBy.UserName+string(merged.State), "adaclosed")
	recent(*merged.Merged)
	equal(must(ada.GetCommitPullRequest("ada", "garden", *merged.MergedCommitID)).Index, made.Index)
	eventually("closed by the merge", func() bool { return must(ada.GetIssue("ada", "garden", 3)).State == gitea.StateClosed })
	equal(string(must(ada.GetIssue("ada", "garden", made.Index)).PullRequest.Merged.UTC().Format(time.RFC3339)), merged.Merged.UTC().Format(time.RFC3339))
}

func events(hook *gitea.Hook) []string { return hook.Events }

func hooks() {
	option := gitea.CreateHookOption{
		Type: gitea.HookTypeGitea, Events: []string{"push"}, Config: map[string]string{"url": "http://127.0.0.1:9/hook", "content_type": "json"},
	}
	changed := gitea.EditHookOption{Events: []string{"issues"}}
	made := must(ada.CreateRepoHook("ada", "garden", option))
	recent(made.Created)
	done(ada.EditRepoHook("ada", "garden", made.ID, changed))
	check(slices.Contains(must(ada.GetRepoHook("ada", "garden", made.ID)).Events, "issues"), "not changed")
	equal(len(must(ada.ListRepoHooks("ada", "garden", gitea.ListHooksOptions{}))), 1)
	done(ada.TestWebhook("ada", "garden", made.ID, ""))
	done(ada.DeleteRepoHook("ada", "garden", made.ID))

	made = must(ada.CreateOrgHook("guild", option))
	done(ada.EditOrgHook("guild", made.ID, changed))
	equal(events(must(ada.GetOrgHook("guild", made.ID))), events(must(ada.ListOrgHooks("guild", gitea.ListHooksOptions{}))[0]))
	done(ada.DeleteOrgHook("guild", made.ID))

	made = must(ada.CreateMyHook(option))
	done(ada.EditMyHook(made.ID, changed))
	equal(events(must(ada.GetMyHook(made.ID))), events(must(ada.ListMyHooks(gitea.ListHooksOptions{}))[0]))
	done(ada.DeleteMyHook(made.ID))

	made = must(root.CreateAdminHook(option))
	must(root.EditAdminHook(made.ID, changed))
	equal(events(must(root.GetAdminHook(made.ID))), events(must(root.ListAdminHooks(gitea.ListAdminHooksOptions{}))[0]))
	done(root.DeleteAdminHook(made.ID))
}

func notifications() {
	must(ada.CreateIssue("ada", "garden", gitea.CreateIssueOption{Title: "For @ben", Body: "look, @ben", Assignees: []string{"ben"}}))
	var thread *gitea.NotificationThread
	eventually("notified", func() bool {
		for _, waiting := range must(ben.ListNotifications(gitea.ListNotificationOptions{})) {
			if waiting.Subject.Title == "For @ben" {
				thread = waiting
			}
		}
		return thread != nil
	})
	equal(thread.Subject.Type, gitea.NotifySubjectIssue)
	equal(thread.Subject.State, gitea.NotifySubjectOpen)
	equal(thread.Repository.FullName, "ada/garden")
	recent(thread.UpdatedAt)
	check(must(ben.CheckNotifications()) > 0, "none is new")
	check(must(ben.GetNotification(thread.ID)).Unread, "read already")
	unread := gitea.ListNotificationOptions{Status: []gitea.NotifyStatus{gitea.NotifyStatusUnread}, SubjectTypes: []gitea.NotifySubjectType{gitea.NotifySubjectIssue}}
	check(len(must(ben.ListRepoNotifications("ada", "garden", unread))) > 0, "none in the repository")
	check(must(ben.ReadNotification(thread.ID, gitea.NotifyStatusPinned)).Pinned, "not pinned")
	check(!must(ben.ReadNotification(thread.ID)).Unread, "not read")
	must(ben.ReadRepoNotifications("ada", "garden", gitea.MarkNotificationOptions{LastReadAt: time.Now()}))
	must(ben.ReadNotifications(gitea.MarkNotificationOptions{}))
	equal(must(ben.CheckNotifications()), 0)
}

// paging walks a list by the page numbers that the SDK reads from the Link header.
func paging() {
	must(ada.CreateRepo(gitea.CreateRepoOption{Name: "long"}))
	for i := range 7 {
		must(ada.CreateIssue("ada", "long", gitea.CreateIssueOption{Title: fmt.Sprint("Issue ", i)}))
	}
	var seen []int64
	for page := 1; page != 0; {
		list, response, err := ada.ListRepoIssues("ada", "long", gitea.ListIssueOption{ListOptions: gitea.ListOptions{Page: page, PageSize: 3}})
		equal(err, nil)
		seen = append(seen, each(list, number)...)
		if page == 1 {
			equal(response.LastPage, 3)
			equal(response.Header.Get("X-Total-Count"), "7")
		}
		page = response.NextPage
	}
	equal(seen, []int64{7, 6, 5, 4, 3, 2, 1})
	all := gitea.ListOptions{Page: -1}
	equal(len(must(ada.ListRepoIssues("ada", "long", gitea.ListIssueOption{ListOptions: all}))), 7)
}

func clearingUp() {
	response, err := ben.DeleteIssue("ada", "garden", 1)
	refused(403, response, err)
	done(ada.DeleteIssue("ada", "garden", 1))
	_, response, err = ada.GetIssue("ada", "garden", 1)
	refused(404, response, err)
	done(ada.DeleteRepo("ada", "long"))
	response, err = ada.AdminDeleteUser("ben")
	refused(403, response, err)
	done(ben.DeleteRepo("ben", "present"))
	done(ben.DeleteRepo("ben", "given"))
	done(ben.DeleteRepo("ben", "plot"))
	done(ben.DeleteRepo("ben", "garden-of-ben"))
	done(root.AdminRenameUser("ben", gitea.RenameUserOption{NewUsername: "left"}))
	done(root.AdminDeleteUser("left"))
	_, response, err = ada.GetUserInfo("left")
	refused(404, response, err)
}
