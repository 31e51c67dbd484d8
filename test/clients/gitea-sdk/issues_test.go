package day

import (
	"slices"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"
)

var (
	bug, later *gitea.Label
	spring     *gitea.Milestone
)

func labelsAndMilestones() {
	bug = must(ada.CreateLabel("ada", "garden", gitea.CreateLabelOption{Name: "bug", Color: "#ff0000"}))
	later = must(ada.CreateLabel("ada", "garden", gitea.CreateLabelOption{Name: "later", Color: "#0000ff", Description: "not now"}))
	color := "#ee0000"
	equal(must(ada.EditLabel("ada", "garden", bug.ID, gitea.EditLabelOption{Color: &color})).Color, "ee0000")
	equal(must(ben.GetRepoLabel("ada", "garden", bug.ID)).Color, "ee0000")
	spare := must(ada.CreateLabel("ada", "garden", gitea.CreateLabelOption{Name: "spare", Color: "#00ff00"}))
	done(ada.DeleteLabel("ada", "garden", spare.ID))
	equal(each(must(ben.ListRepoLabels("ada", "garden", gitea.ListLabelsOptions{})), labelName), []string{"bug", "later"})

	due := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	spring = must(ada.CreateMilestone("ada", "garden", gitea.CreateMilestoneOption{Title: "spring", Deadline: &due}))
	equal(spring.State, gitea.StateOpen)
	equal(spring.Deadline.UTC().Year(), 2031)
	text, closed := "sowing", gitea.StateClosed
	equal(must(ada.EditMilestone("ada", "garden", spring.ID, gitea.EditMilestoneOption{Description: &text})).Description, text)
	equal(must(ben.GetMilestone("ada", "garden", spring.ID)).Description, text)
	equal(must(ben.GetMilestoneByName("ada", "garden", "spring")).ID, spring.ID)
	must(ada.CreateMilestone("ada", "garden", gitea.CreateMilestoneOption{Title: "last year"}))
	old := must(ada.EditMilestoneByName("ada", "garden", "last year", gitea.EditMilestoneOption{State: &closed}))
	recent(*old.Closed)
	all := must(ben.ListRepoMilestones("ada", "garden", gitea.ListMilestoneOption{State: gitea.StateAll}))
	equal(len(all), 2)
	done(ada.DeleteMilestoneByName("ada", "garden", "last year"))
	autumn := must(ada.CreateMilestone("ada", "garden", gitea.CreateMilestoneOption{Title: "autumn"}))
	done(ada.DeleteMilestone("ada", "garden", autumn.ID))
}

func issues() {
	due := time.Date(2031, 4, 30, 10, 0, 0, 0, time.UTC)
	first := must(ada.CreateIssue("ada", "garden", gitea.CreateIssueOption{
		Title: "Roses wilt", Body: "all of them", Assignees: []string{"ben"}, Labels: []int64{bug.ID},
		Milestone: spring.ID, Deadline: &due,
	}))
	equal(each(first.Assignees, login), []string{"ben"})
	equal(each(first.Labels, labelName), []string{"bug"})
	equal(first.Milestone.Title+first.Repository.FullName, "springada/garden")
	equal(first.Deadline.UTC(), time.Date(2031, 4, 30, 23, 59, 59, 0, time.UTC))
	recent(first.Created)
	must(ben.CreateIssue("ada", "garden", gitea.CreateIssueOption{Title: "Water is out"}))
	snails := must(ben.CreateIssue("ada", "garden", gitea.CreateIssueOption{Title: "Snails", Closed: true}))
	recent(*snails.Closed)

	title, body, open := "Slugs", "and snails", gitea.StateOpen
	edited := must(ada.EditIssue("ada", "garden", 3, gitea.EditIssueOption{Title: title, Body: &body, State: &open}))
	equal(edited.Title+edited.Body+string(edited.State), "Slugsand snailsopen")
	assigned := must(ada.EditIssue("ada", "garden", 3, gitea.EditIssueOption{Assignees: []string{"ada"}, Milestone: &spring.ID}))
	equal(assigned.Title+assigned.Assignees[0].UserName+assigned.Milestone.Title, "Slugsadaspring")
	yes := true
	equal(must(ada.EditIssue("ada", "garden", 1, gitea.EditIssueOption{RemoveDeadline: &yes})).Deadline, nil)
	equal(must(ben.GetIssue("ada", "garden", 1)).Body, "all of them")
	filtered := gitea.ListIssueOption{
		State: gitea.StateOpen, Type: gitea.IssueTypeIssue, Labels: []string{"bug"}, Milestones: []string{"spring"},
		KeyWord: "wilt", CreatedBy: "ada", AssignedBy: "ben", Since: time.Now().Add(-time.Hour), Before: time.Now().Add(time.Hour),
	}
	equal(each(must(ben.ListRepoIssues("ada", "garden", filtered)), number), []int64{1})
	equal(each(must(ben.ListIssues(gitea.ListIssueOption{KeyWord: "wilt", Owner: "ada"})), number), []int64{1})
	equal(must(ada.UpdateIssueDeadline("ada", "garden", 2, gitea.EditDeadlineOption{Deadline: &due})).Deadline.UTC().Day(), 30)

	named := gitea.IssueLabelsOption{Labels: []int64{bug.ID}}
	equal(each(must(ada.AddIssueLabels("ada", "garden", 2, named)), labelName), []string{"bug"})
	named.Labels = []int64{later.ID}
	equal(each(must(ada.ReplaceIssueLabels("ada", "garden", 2, named)), labelName), []string{"later"})
	equal(each(must(ben.GetIssueLabels("ada", "garden", 2, gitea.ListLabelsOptions{})), labelName), []string{"later"})
	done(ada.DeleteIssueLabel("ada", "garden", 2, later.ID))
	must(ada.AddIssueLabels("ada", "garden", 2, named))
	done(ada.ClearIssueLabels("ada", "garden", 2))

	waits := gitea.IssueMeta{Index: 2}
	must(ada.CreateIssueDependency("ada", "garden", 1, waits))
	equal(each(must(ada.ListIssueDependencies("ada", "garden", 1, gitea.ListIssueDependenciesOptions{})), number), []int64{2})
	equal(each(must(ada.ListIssueBlocks("ada", "garden", 2, gitea.ListIssueBlocksOptions{})), number), []int64{1})
	closed := gitea.StateClosed
	_, response, err := ada.EditIssue("ada", "garden", 1, gitea.EditIssueOption{State: &closed})
	refused(412, response, err)
	must(ada.RemoveIssueDependency("ada", "garden", 1, waits))
	must(ada.CreateIssueBlocking("ada", "garden", 1, waits))
	equal(each(must(ada.ListIssueDependencies("ada", "garden", 2, gitea.ListIssueDependenciesOptions{})), number), []int64{1})
	must(ada.RemoveIssueBlocking("ada", "garden", 1, waits))

	done(ada.LockIssue("ada", "garden", 1, gitea.LockIssueOption{LockReason: "Resolved"}))
	check(must(ben.GetIssue("ada", "garden", 1)).IsLocked, "not locked")
	done(ada.UnlockIssue("ada", "garden", 1))
	done(ada.PinIssue("ada", "garden", 1))
	done(ada.PinIssue("ada", "garden", 2))
	done(ada.MoveIssuePin("ada", "garden", 2, 1))
	equal(each(must(ben.ListRepoPinnedIssues("ada", "garden")), number), []int64{2, 1})
	done(ada.UnpinIssue("ada", "garden", 2))
	check(must(ben.CheckPinAllowed("ada", "garden")).Issues, "no more pins")
	done(root.IssueSubscribe("ada", "garden", 1))
	check(must(root.CheckIssueSubscription("ada", "garden", 1)).Subscribed, "not subscribed")
	subscribers := must(ada.ListIssueSubscribers("ada", "garden", 1, gitea.ListIssueSubscribersOptions{}))
	check(slices.Contains(each(subscribers, login), "root"), "not subscribed")
	equal(len(must(ada.GetIssueSubscribers("ada", "garden", 1))), len(subscribers))
	done(root.IssueUnSubscribe("ada", "garden", 1))

	template := "---\nname: Pest\nabout: Something eats the plants\nlabels: [bug]\n---\nWhich one?\n"
	must(ada.CreateFile("ada", "garden", ".gitea/ISSUE_TEMPLATE/pest.md", gitea.CreateFileOptions{Content: encoded(template)}))
	form := "name: Weed\nabout: A plant too many\nbody:\n  - type: textarea\n    id: where\n    attributes:\n      label: Where\n"
	must(ada.CreateFile("ada", "garden", ".gitea/ISSUE_TEMPLATE/weed.yaml", gitea.CreateFileOptions{Content: encoded(form)}))
	templates := must(ben.GetIssueTemplates("ada", "garden"))
	equal(each(templates, func(t *gitea.IssueTemplate) string { return t.Name }), []string{"Pest", "Weed"})
	equal(templates[0].MarkdownContent, "Which one?\n")
	equal(templates[1].Form[0].Attributes.Label, "Where")
	equal(must(ben.GetIssueConfig("ada", "garden")).BlankIssuesEnabled, true)
	check(must(ben.ValidateIssueConfig("ada", "garden")).Valid, "not valid")
}

func text(comment *gitea.Comment) string { return comment.Body }

func comments() {
	made := must(ben.CreateIssueComment("ada", "garden", 1, gitea.CreateIssueCommentOption{Body: "Too dry, see #2"}))
	recent(made.Created)
	edited := must(ben.EditIssueComment("ada", "garden", made.ID, gitea.EditIssueCommentOption{Body: "Too wet"}))
	equal(edited.Body, "Too wet")
	equal(must(ada.GetIssueComment("ada", "garden", made.ID)).Poster.UserName, "ben")
	option := gitea.ListIssueCommentOptions{Since: time.Now().Add(-time.Hour)}
	equal(each(must(ada.ListIssueComments("ada", "garden", 1, option)), text), []string{"Too wet"})
	equal(each(must(ada.ListRepoIssueComments("ada", "garden", option)), text), []string{"Too wet"})
	// Not of an issue that was labelled: there the SDK wants a list, and the reference's answer has one label.
	timeline := must(ada.ListIssueTimeline("ada", "garden", 3, gitea.ListIssueCommentOptions{}))
	kinds := each(timeline, func(c *gitea.TimelineComment) string { return c.Type })
	check(slices.Contains(kinds, "change_title") && slices.Contains(kinds, "assignees"), "timeline: %v", kinds)

	equal(must(ada.PostIssueCommentReaction("ada", "garden", made.ID, "heart")).Reaction, "heart")
	equal(len(must(ben.GetIssueCommentReactions("ada", "garden", made.ID))), 1)
	done(ada.DeleteIssueCommentReaction("ada", "garden", made.ID, "heart"))
	equal(len(must(ben.GetIssueCommentReactions("ada", "garden", made.ID))), 0)
	recent(must(ben.PostIssueReaction("ada", "garden", 1, "+1")).Created)
	equal(must(ada.GetIssueReactions("ada", "garden", 1))[0].User.UserName, "ben")
	equal(len(must(ada.ListIssueReactions("ada", "garden", 1, gitea.ListIssueReactionsOptions{}))), 1)
	done(ben.DeleteIssueReaction("ada", "garden", 1, "+1"))
	done(ben.DeleteIssueComment("ada", "garden", made.ID))
}

func attachments() {
	named := gitea.EditAttachmentOptions{Name: "tulip.txt"}
	made := must(ben.CreateIssueAttachment("ada", "garden", 2, strings.NewReader("wilted"), "rose.txt"))
	equal(made.Name, "rose.txt")
	equal(made.Size, 6)
	recent(made.Created)
	equal(must(ben.EditIssueAttachment("ada", "garden", 2, made.ID, named)).Name, "tulip.txt")
	equal(must(ada.GetIssueAttachment("ada", "garden", 2, made.ID)).Name, "tulip.txt")
	equal(each(must(ada.ListIssueAttachments("ada", "garden", 2)), attachmentName), []string{"tulip.txt"})
	done(ben.DeleteIssueAttachment("ada", "garden", 2, made.ID))

	comment := must(ben.CreateIssueComment("ada", "garden", 2, gitea.CreateIssueCommentOption{Body: "see the file"})).ID
	made = must(ben.CreateIssueCommentAttachment("ada", "garden", comment, strings.NewReader("wilted"), "rose.txt"))
	equal(must(ben.EditIssueCommentAttachment("ada", "garden", comment, made.ID, named)).Name, "tulip.txt")
	equal(must(ada.GetIssueCommentAttachment("ada", "garden", comment, made.ID)).Size, 6)
	equal(each(must(ada.ListIssueCommentAttachments("ada", "garden", comment)), attachmentName), []string{"tulip.txt"})
	done(ben.DeleteIssueCommentAttachment("ada", "garden", comment, made.ID))
}

func seconds(entry *gitea.TrackedTime) int64 { return entry.Time }

func trackedTime() {
	added := must(ben.AddTime("ada", "garden", 1, gitea.AddTimeOption{Time: 120}))
	equal(added.UserName, "ben")
	recent(added.Created)
	must(ben.AddTime("ada", "garden", 1, gitea.AddTimeOption{Time: 60, Created: time.Now().Add(-time.Minute)}))
	both := []int64{120, 60}
	option := gitea.ListTrackedTimesOptions{}
	equal(each(must(ben.ListIssueTrackedTimes("ada", "garden", 1, option)), seconds), both)
	equal(len(must(ada.ListRepoTrackedTimes("ada", "garden", option))), 2)
	equal(len(must(ada.GetUserTrackedTimes("ada", "garden", "ben"))), 2)
	equal(len(must(ben.GetMyTrackedTimes())), 2)
	equal(must(ben.ListMyTrackedTimes(option))[0].Issue.Index, 1)
	done(ben.DeleteTime("ada", "garden", 1, added.ID))
	done(ben.ResetIssueTime("ada", "garden", 1))
	equal(len(must(ben.ListIssueTrackedTimes("ada", "garden", 1, option))), 0)

	done(ben.StartIssueStopWatch("ada", "garden", 2))
	equal(must(ben.GetMyStopwatches())[0].IssueIndex, 2)
	recent(must(ben.ListMyStopwatches(gitea.ListStopwatchesOptions{}))[0].Created)
	done(ben.StopIssueStopWatch("ada", "garden", 2))
	done(ben.StartIssueStopWatch("ada", "garden", 2))
	done(ben.DeleteIssueStopwatch("ada", "garden", 2))
}
