package day

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"
)

func accessToken(variable string) string { return os.Getenv(variable) }

func repositories() {
	made := must(ada.CreateRepo(gitea.CreateRepoOption{
		Name: "garden", Description: "A garden", AutoInit: true, License: "MIT", Gitignores: "Node", DefaultBranch: "main",
	}))
	equal(made.FullName, "ada/garden")
	equal(*made.Permissions, gitea.Permission{Admin: true, Push: true, Pull: true})
	check(made.HasIssues && made.HasPullRequests && made.AllowMerge && !made.Empty, "a poor repository: %+v", made)
	recent(made.Created)
	equal(must(ben.GetRepoByID(made.ID)).FullName, "ada/garden")
	website, yes := "https://garden.test", true
	equal(must(ada.EditRepo("ada", "garden", gitea.EditRepoOption{Website: &website, HasIssues: &yes})).Website, website)
	equal(must(ben.GetRepo("ada", "garden")).Permissions.Push, false)
	equal(must(ada.GetRepoLicenses("ada", "garden")), []string{"MIT"})
	equal(sorted(each(must(ada.ListMyRepos(gitea.ListReposOptions{})), fullName)), []string{"ada/garden", "guild/forge"})
	equal(each(must(ben.ListUserRepos("ada", gitea.ListReposOptions{})), fullName), []string{"ada/garden"})
	found := must(ben.SearchRepos(gitea.SearchRepoOptions{Keyword: "gard", Sort: "updated", Order: "desc"}))
	equal(each(found, fullName), []string{"ada/garden"})
	equal(must(root.AdminCreateRepo("ben", gitea.CreateRepoOption{Name: "given"})).Owner.UserName, "ben")

	done(ada.SetRepoTopics("ada", "garden", []string{"plants"}))
	done(ada.AddRepoTopic("ada", "garden", "soil"))
	equal(must(ben.ListRepoTopics("ada", "garden", gitea.ListRepoTopicsOptions{})), []string{"plants", "soil"})
	equal(must(ben.SearchTopics(gitea.TopicSearchOptions{Query: "soi"})).Topics[0].Name, "soil")
	done(ada.DeleteRepoTopic("ada", "garden", "soil"))

	done(ben.StarRepo("ada", "garden"))
	check(must(ben.IsRepoStarring("ada", "garden")), "no star")
	equal(each(must(ben.GetMyStarredRepos()), fullName), []string{"ada/garden"})
	equal(each(must(ada.GetStarredRepos("ben")), fullName), []string{"ada/garden"})
	equal(each(must(ada.ListRepoStargazers("ada", "garden", gitea.ListStargazersOptions{})), login), []string{"ben"})
	equal(must(ada.GetRepo("ada", "garden")).Stars, 1)
	done(ben.UnStarRepo("ada", "garden"))
	check(!must(ben.IsRepoStarring("ada", "garden")), "still a star")

	done(ben.WatchRepo("ada", "garden"))
	check(must(ben.CheckRepoWatch("ada", "garden")), "does not watch")
	check(slices.Contains(each(must(ben.GetMyWatchedRepos()), fullName), "ada/garden"), "watches nothing")
	check(slices.Contains(each(must(ada.GetWatchedRepos("ben")), fullName), "ada/garden"), "watches nothing")
	watching := must(ada.ListRepoSubscribers("ada", "garden", gitea.ListOptions{}))
	check(slices.Contains(each(watching, login), "ben"), "ben does not watch")
	done(ben.UnWatchRepo("ada", "garden"))
	check(!must(ben.CheckRepoWatch("ada", "garden")), "still watches")
}

func sharing() {
	write, read := gitea.AccessModeWrite, gitea.AccessModeRead
	done(ada.AddCollaborator("ada", "garden", "ben", gitea.AddCollaboratorOption{Permission: &write}))
	check(must(ada.IsCollaborator("ada", "garden", "ben")), "no collaborator")
	equal(each(must(ada.ListCollaborators("ada", "garden", gitea.ListCollaboratorsOptions{})), login), []string{"ben"})
	equal(must(ada.CollaboratorPermission("ada", "garden", "ben")).Permission, write)
	equal(sorted(each(must(ada.GetAssignees("ada", "garden")), login)), []string{"ada", "ben"})
	check(slices.Contains(each(must(ada.GetReviewers("ada", "garden")), login), "ben"), "ben cannot review")
	done(ada.AddCollaborator("ada", "garden", "root", gitea.AddCollaboratorOption{Permission: &read}))
	done(ada.DeleteCollaborator("ada", "garden", "root"))
	check(!must(ada.IsCollaborator("ada", "garden", "root")), "still a collaborator")

	name := "garden-of-ben"
	fork := must(ben.CreateFork("ada", "garden", gitea.CreateForkOption{Name: &name}))
	equal(fork.FullName+fork.Parent.FullName, "ben/garden-of-benada/garden")
	synced := must(ben.MergeUpstream("ben", name, gitea.MergeUpstreamRequest{Branch: "main"}))
	equal(synced.MergeStyle, "up-to-date")
	equal(each(must(ada.ListForks("ada", "garden", gitea.ListForksOptions{})), fullName), []string{"ben/garden-of-ben"})

	template := true
	must(ada.EditRepo("ada", "garden", gitea.EditRepoOption{Template: &template}))
	must(ben.CreateRepoFromTemplate("ada", "garden", gitea.CreateRepoFromTemplateOption{Owner: "ben", Name: "plot", GitContent: true}))
	equal(each(must(ben.ListContents("ben", "plot", "", "")), path), []string{".gitignore", "LICENSE", "README.md"})

	must(ada.CreateRepo(gitea.CreateRepoOption{Name: "present"}))
	must(ada.TransferRepo("ada", "present", gitea.TransferRepoOption{NewOwner: "ben"}))
	equal(must(ben.RejectRepoTransfer("ada", "present")).FullName, "ada/present")
	must(ada.TransferRepo("ada", "present", gitea.TransferRepoOption{NewOwner: "ben"}))
	equal(must(ben.AcceptRepoTransfer("ada", "present")).FullName, "ben/present")
}

func path(entry *gitea.ContentsResponse) string { return entry.Path }

func files() {
	listed := must(ben.ListContents("ada", "garden", "main", ""))
	equal(sorted(each(listed, path)), []string{".gitignore", "LICENSE", "README.md"})
	made := must(ada.CreateFile("ada", "garden", "beds/one.js", gitea.CreateFileOptions{
		FileOptions: gitea.FileOptions{Message: "a bed"}, Content: encoded("const one = 1;\n"),
	}))
	equal(made.Content.Path+made.Commit.Message, "beds/one.jsa bed\n")
	recent(made.Commit.Created)
	changed := must(ada.UpdateFile("ada", "garden", "beds/one.js", gitea.UpdateFileOptions{
		FileOptions: gitea.FileOptions{BranchName: "main", Author: gitea.Identity{Name: "Ada", Email: "ada@example.test"}},
		SHA:         made.Content.SHA, Content: encoded("const two = 2;\n"),
	}))
	equal(changed.Commit.Author.Name, "Ada")
	recent(changed.Commit.Created)
	read := must(ben.GetContents("ada", "garden", "main", "beds/one.js"))
	equal(*read.Content, encoded("const two = 2;\n"))
	several := gitea.GetFilesOptions{Files: []string{"beds/none.js", "beds/one.js"}}
	for _, fetch := range []func(_, _, _ string, _ gitea.GetFilesOptions) ([]*gitea.ContentsResponse, *gitea.Response, error){
		ben.GetRepoFileContents, ben.PostRepoFileContents,
	} {
		both := must(fetch("ada", "garden", "main", several))
		check(both[0] == nil, "a file that is not there")
		equal(*both[1].Content, encoded("const two = 2;\n"))
	}
	check(strings.HasPrefix(must(ben.GetRepoSigningKeySSH("ada", "garden")), "ssh-"), "no key that signs")
	equal(string(must(ben.GetFile("ada", "garden", "main", "beds/one.js"))), "const two = 2;\n")
	equal(string(must(ben.GetFile("ada", "garden", "main", "beds/one.js", true))), "const two = 2;\n")
	equal(string(must(ben.GetRawFile("ada", "garden", "beds/one.js", "main"))), "const two = 2;\n")
	equal(string(must(ben.GetRawFileOrLFS("ada", "garden", "beds/one.js"))), "const two = 2;\n")
	response, err := ada.DeleteFile("ada", "garden", "beds/one.js", gitea.DeleteFileOptions{SHA: made.Content.SHA})
	check(response.StatusCode/100 == 4, "deleted another file than asked: %v", err)
	changes := must(ada.ChangeFiles("ada", "garden", gitea.ChangeFilesOptions{
		Message: "two at once", NewBranch: "beds/spring",
		Files: []*gitea.ChangeFileOperation{
			{Operation: "create", Path: "a.txt", Content: encoded("a\n")},
			{Operation: "update", Path: "beds/one.js", Content: encoded("const three = 3;\n"), SHA: read.SHA},
		},
	}))
	equal(changes.Commit.Message, "two at once\n")
	must(ada.CreateFile("ada", "garden", "gone.txt", gitea.CreateFileOptions{Content: encoded("gone")}))
	gone := must(ada.GetContents("ada", "garden", "", "gone.txt"))
	done(ada.DeleteFile("ada", "garden", "gone.txt", gitea.DeleteFileOptions{SHA: gone.SHA}))
	_, response, err = ada.GetContents("ada", "garden", "", "gone.txt")
	refused(404, response, err)
	equal(must(ada.GetRepoLanguages("ada", "garden"))["JavaScript"], 15)
	equal(string(must(ada.GetArchive("ada", "garden", "main", gitea.ZipArchive)))[:2], "PK")
	archive := must(ada.GetArchiveReader("ada", "garden", "main", gitea.TarGZArchive))
	packed, err := io.ReadAll(archive)
	check(err == nil && packed[0] == 0x1f, "no archive: %v", err)
	equal(archive.Close(), nil)
}

func gitData() {
	commits := must(ben.ListRepoCommits("ada", "garden", gitea.ListCommitOptions{Stat: true, Files: true, Verification: true}))
	head := commits[0].SHA
	equal(commits[0].Author.UserName, "ada")
	recent(commits[0].Created)
	single := must(ben.GetSingleCommit("ada", "garden", commits[2].SHA))
	equal(single.Files[0].Filename, "beds/one.js")
	equal(*single.Stats, gitea.CommitStats{Total: 2, Additions: 1, Deletions: 1})
	check(strings.Contains(string(must(ben.GetCommitDiff("ada", "garden", single.SHA))), "+const two"), "no diff")
	check(strings.HasPrefix(string(must(ben.GetCommitPatch("ada", "garden", single.SHA))), "From "), "no patch")
	compared := must(ben.CompareCommits("ada", "garden", "main", "beds/spring"))
	equal(each(compared.Commits, func(c *gitea.Commit) string { return c.RepoCommit.Message }), []string{"two at once\n"})

	tree := must(ben.GetTrees("ada", "garden", gitea.ListTreeOptions{Ref: head, Recursive: true}))
	entry := tree.Entries[slices.IndexFunc(tree.Entries, func(e gitea.GitEntry) bool { return e.Path == "beds/one.js" })]
	equal(entry.Type+entry.Mode, "blob100644")
	equal(must(ben.GetBlob("ada", "garden", entry.SHA)).Content, encoded("const two = 2;\n"))
	equal(must(ben.GetRepoRef("ada", "garden", "heads/main")).Object.SHA, head)
	equal(len(must(ben.GetRepoRefs("ada", "garden", "heads"))), 2)
	equal(len(must(ben.ListAllGitRefs("ada", "garden"))), 2)

	tag := must(ada.CreateTag("ada", "garden", gitea.CreateTagOption{TagName: "v1", Message: "first", Target: "main"}))
	equal(tag.Commit.SHA, head)
	equal(must(ben.GetTag("ada", "garden", "v1")).Name, "v1")
	annotated := must(ben.GetAnnotatedTag("ada", "garden", tag.ID))
	equal(annotated.Tag+annotated.Object.SHA, "v1"+head)
	equal(len(must(ben.ListRepoTags("ada", "garden", gitea.ListRepoTagsOptions{}))), 1)
	done(ada.DeleteTag("ada", "garden", "v1"))

	status := must(ben.CreateStatus("ada", "garden", head, gitea.CreateStatusOption{State: gitea.StatusSuccess, Context: "ci"}))
	equal(status.State, gitea.StatusSuccess)
	recent(status.Created)
	must(ben.CreateStatus("ada", "garden", head, gitea.CreateStatusOption{State: gitea.StatusFailure, Context: "lint"}))
	equal(len(must(ada.ListStatuses("ada", "garden", "main", gitea.ListStatusesOption{}))), 2)
	combined := must(ada.GetCombinedStatus("ada", "garden", "main"))
	equal(combined.State, gitea.StatusFailure)
	equal(combined.TotalCount, len(combined.Statuses))

	work := filepath.Join(current.TempDir(), "garden")
	git("clone", "--quiet", cloneURL("ada/garden"), work)
	git("-C", work, "notes", "add", "--message=smells", head)
	git("-C", work, "push", "--quiet", "origin", "refs/notes/commits")
	equal(must(ben.GetRepoNote("ada", "garden", head, gitea.GetRepoNoteOptions{})).Message, "smells\n")
}

// cloneURL is where git reads and writes a repository as ada.
func cloneURL(repository string) string {
	return strings.Replace(address, "://", "://ada:"+accessToken("CROFT_ADA")+"@", 1) + "/" + repository + ".git"
}

// git runs the program as a person who is known to it.
func git(arguments ...string) string {
	current.Helper()
	who := []string{"-c", "user.name=Ada", "-c", "user.email=ada@example.test"}
	printed, err := exec.Command("git", append(who, arguments...)...).CombinedOutput()
	check(err == nil, "git %v: %v\n%s", arguments, err, printed)
	return strings.TrimSpace(string(printed))
}

func branches() {
	made := must(ada.CreateBranch("ada", "garden", gitea.CreateBranchOption{BranchName: "old", OldBranchName: "main"}))
	equal(made.Name, "old")
	recent(made.Commit.Timestamp)
	check(must(ada.RenameRepoBranch("ada", "garden", "old", gitea.RenameRepoBranchOption{Name: "new/er"})), "not renamed")
	newer := must(ada.GetRepoBranch("ada", "garden", "new/er"))
	spring := must(ada.GetRepoBranch("ada", "garden", "beds/spring"))
	moved := gitea.UpdateRepoBranchRefOption{NewCommitID: spring.Commit.ID, OldCommitID: newer.Commit.ID, Force: true}
	check(must(ada.UpdateRepoBranchRef("ada", "garden", "new/er", moved)), "not moved")
	check(must(ada.UpdateRepoBranch("ada", "garden", "new/er", gitea.UpdateRepoBranchOption{Name: "newest"})), "not renamed")
	names := each(must(ada.ListRepoBranches("ada", "garden", gitea.ListRepoBranchesOptions{})), func(b *gitea.Branch) string { return b.Name })
	equal(sorted(names), []string{"beds/spring", "main", "newest"})
	check(must(ada.DeleteRepoBranch("ada", "garden", "newest")), "not deleted")

	rule := must(ada.CreateBranchProtection("ada", "garden", gitea.CreateBranchProtectionOption{RuleName: "release/*", RequiredApprovals: 1}))
	recent(rule.Created)
	yes := true
	edited := must(ada.EditBranchProtection("ada", "garden", "release/*", gitea.EditBranchProtectionOption{EnablePush: &yes}))
	check(edited.EnablePush && edited.RequiredApprovals == 1, "edited wrongly: %+v", edited)
	equal(must(ada.GetBranchProtection("ada", "garden", "release/*")).EnablePush, true)
	equal(len(must(ada.ListBranchProtections("ada", "garden", gitea.ListBranchProtectionsOptions{}))), 1)
	must(ada.CreateBranchProtection("ada", "garden", gitea.CreateBranchProtectionOption{RuleName: "hotfix/*"}))
	rules := protections()
	equal([]string{rules[0].RuleName, rules[1].RuleName}, []string{"release/*", "hotfix/*"})
	done(ada.UpdateBranchProtectionPriorities("ada", "garden", []int64{rules[1].ID, rules[0].ID}))
	equal(protections()[0].RuleName, "hotfix/*")
	done(ada.DeleteBranchProtection("ada", "garden", "hotfix/*"))
	done(ada.DeleteBranchProtection("ada", "garden", "release/*"))

	tags := must(ada.CreateTagProtection("ada", "garden", gitea.CreateTagProtectionOption{NamePattern: "v*", WhitelistUsernames: []string{"ada"}}))
	recent(tags.Created)
	pattern := `/^v\d+/`
	narrowed := must(ada.EditTagProtection("ada", "garden", tags.ID, gitea.EditTagProtectionOption{NamePattern: &pattern}))
	equal([]string{narrowed.NamePattern, narrowed.WhitelistUsernames[0]}, []string{pattern, "ada"})
	equal(must(ada.GetTagProtection("ada", "garden", tags.ID)).NamePattern, pattern)
	equal(len(must(ada.ListTagProtection("ada", "garden", gitea.ListRepoTagProtectionsOptions{}))), 1)
	done(ada.DeleteTagProtection("ada", "garden", tags.ID))
}

type rule struct {
	gitea.BranchProtection
	ID int64 `json:"id"`
}

// protections reads what the SDK leaves out of a protection: the id that puts it in order.
func protections() (rules []rule) {
	request, err := http.NewRequest("GET", address+"/api/v1/repos/ada/garden/branch_protections", nil)
	equal(err, nil)
	request.Header.Set("Authorization", "Bearer "+os.Getenv("CROFT_ADA"))
	response, err := http.DefaultClient.Do(request)
	equal(err, nil)
	defer response.Body.Close()
	equal(json.NewDecoder(response.Body).Decode(&rules), nil)
	return rules
}
