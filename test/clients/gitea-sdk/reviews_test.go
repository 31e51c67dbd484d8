package day

import (
	"strings"

	"code.gitea.io/sdk/gitea"
)

func autumnBeds() *gitea.PullRequest {
	must(ada.ChangeFiles("ada", "garden", gitea.ChangeFilesOptions{
		Message: "autumn", NewBranch: "beds/autumn",
		Files: []*gitea.ChangeFileOperation{{Operation: "create", Path: "c.txt", Content: encoded("c\n")}},
	}))
	return must(ben.CreatePullRequest("ada", "garden", gitea.CreatePullRequestOption{Head: "beds/autumn", Base: "main", Title: "Autumn beds"}))
}

func reviews() {
	pull := autumnBeds()
	equal(must(ben.GetPullRequestByBaseHead("ada", "garden", "main", "beds/autumn")).Index, pull.Index)
	commits := must(ben.ListPullRequestCommits("ada", "garden", pull.Index, gitea.ListPullRequestCommitsOptions{}))
	equal(each(commits, func(commit *gitea.Commit) string { return commit.SHA }), []string{pull.Head.Sha})
	files := must(ben.ListPullRequestFiles("ada", "garden", pull.Index, gitea.ListPullRequestFilesOptions{}))
	check(len(files) == 1 && files[0].Filename == "c.txt" && files[0].Additions == 1 && files[0].Status == "added", "%+v", files)

	asked := gitea.PullReviewRequestOptions{Reviewers: []string{"ada"}}
	requested := func() []string {
		return each(must(ben.GetPullRequest("ada", "garden", pull.Index)).RequestedReviewers, login)
	}
	done(ben.CreateReviewRequests("ada", "garden", pull.Index, asked))
	equal(requested(), []string{"ada"})
	done(ben.DeleteReviewRequests("ada", "garden", pull.Index, asked))
	equal(requested(), []string{})

	draft := must(ada.CreatePullReview("ada", "garden", pull.Index, gitea.CreatePullReviewOptions{
		Body: "Nearly", Comments: []gitea.CreatePullReviewComment{{Path: "c.txt", Body: "Why?", NewLineNum: 1}},
	}))
	equal(draft.State, gitea.ReviewStatePending)
	review := must(ada.SubmitPullReview("ada", "garden", pull.Index, draft.ID, gitea.SubmitPullReviewOptions{State: gitea.ReviewStateRequestChanges, Body: "Not yet"}))
	check(review.State == gitea.ReviewStateRequestChanges && review.Body == "Not yet" && review.CodeCommentsCount == 1, "%+v", review)
	recent(review.Submitted)
	shown := func() *gitea.PullReview { return must(ben.GetPullReview("ada", "garden", pull.Index, review.ID)) }
	equal(shown().Reviewer.UserName+shown().CommitID, "ada"+pull.Head.Sha)
	comments := must(ben.ListPullReviewComments("ada", "garden", pull.Index, review.ID))
	check(len(comments) == 1 && comments[0].Path == "c.txt" && comments[0].Body == "Why?" && comments[0].LineNum == 1, "%+v", comments)
	check(strings.Contains(comments[0].DiffHunk, "+c"), "no hunk")
	reply := must(ben.CreatePullReviewCommentReply("ada", "garden", pull.Index, comments[0].ID, gitea.CreatePullReviewCommentReplyOptions{Body: "Because"}))
	check(reply.Reviewer.UserName == "ben" && reply.Body == "Because" && reply.Path == "c.txt" && reply.LineNum == 1, "%+v", reply)
	done(ben.DeletePullReview("ada", "garden", pull.Index, reply.ReviewID))
	resolver := func() *gitea.User {
		return must(ben.ListPullReviewComments("ada", "garden", pull.Index, review.ID))[0].Resolver
	}
	done(ben.ResolvePullReviewComment("ada", "garden", comments[0].ID))
	equal(login(resolver()), "ben")
	done(ben.UnresolvePullReviewComment("ada", "garden", comments[0].ID))
	check(resolver() == nil, "still resolved")
	done(ada.DismissPullReview("ada", "garden", pull.Index, review.ID, gitea.DismissPullReviewOptions{Message: "settled"}))
	check(shown().Dismissed, "not dismissed")
	done(ada.UnDismissPullReview("ada", "garden", pull.Index, review.ID))
	check(!shown().Dismissed, "still dismissed")
	other := must(ben.CreatePullReview("ada", "garden", pull.Index, gitea.CreatePullReviewOptions{State: gitea.ReviewStateComment, Body: "By the way"}))
	listed := func() []int64 {
		list := must(ada.ListPullReviews("ada", "garden", pull.Index, gitea.ListPullReviewsOptions{}))
		return each(list, func(one *gitea.PullReview) int64 { return one.ID })
	}
	equal(listed(), []int64{review.ID, other.ID})
	done(ben.DeletePullReview("ada", "garden", pull.Index, other.ID))
	equal(listed(), []int64{review.ID})
	updateAndSchedule(pull)
}

func updateAndSchedule(pull *gitea.PullRequest) {
	late := must(ada.CreateFile("ada", "garden", "late.txt", gitea.CreateFileOptions{Content: encoded("late")}))
	done(ada.UpdatePullRequest("ada", "garden", pull.Index))
	updated := must(ada.GetPullRequest("ada", "garden", pull.Index))
	check(updated.Head.Sha != pull.Head.Sha && updated.MergeBase == late.Commit.SHA, "not updated: %+v", updated)

	must(ada.CreateStatus("ada", "garden", updated.Head.Sha, gitea.CreateStatusOption{State: gitea.StatusPending, Context: "ci"}))
	later := gitea.MergePullRequestOption{Style: gitea.MergeStyleSquash, MergeWhenChecksSucceed: true}
	check(must(ada.MergePullRequest("ada", "garden", pull.Index, later)), "not scheduled")
	check(!must(ada.IsPullRequestMerged("ada", "garden", pull.Index)), "merged before its checks")
	done(ada.CancelScheduledAutoMerge("ada", "garden", pull.Index))
	response, err := ada.CancelScheduledAutoMerge("ada", "garden", pull.Index)
	refused(404, response, err)
	check(must(ada.MergePullRequest("ada", "garden", pull.Index, later)), "not scheduled again")
	must(ada.CreateStatus("ada", "garden", updated.Head.Sha, gitea.CreateStatusOption{State: gitea.StatusSuccess, Context: "ci"}))
	eventually("merged by itself", func() bool { return must(ada.IsPullRequestMerged("ada", "garden", pull.Index)) })
	merged := must(ada.GetSingleCommit("ada", "garden", *must(ada.GetPullRequest("ada", "garden", pull.Index)).MergedCommitID))
	equal(each(merged.Parents, func(parent *gitea.CommitMeta) string { return parent.SHA }), []string{late.Commit.SHA})
}
