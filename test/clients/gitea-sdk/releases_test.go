package day

import (
	"strings"

	"code.gitea.io/sdk/gitea"
)

func releases() {
	made := must(ada.CreateRelease("ada", "garden", gitea.CreateReleaseOption{
		TagName: "beds/v1", Target: "main", Title: "Beds", Note: "Spring", IsDraft: true,
	}))
	equal(made.Title+made.Note+made.Publisher.UserName, "BedsSpringada")
	recent(made.CreatedAt)
	_, response, err := ben.GetLatestRelease("ada", "garden")
	refused(404, response, err)
	seeds := must(ada.CreateReleaseAttachment("ada", "garden", made.ID, strings.NewReader("seeds"), "seeds.txt"))
	equal(seeds.Size, int64(5))
	edited := must(ada.EditReleaseAttachment("ada", "garden", made.ID, seeds.ID, gitea.EditAttachmentOptions{Name: "corn.txt"}))
	equal(edited.Name, "corn.txt")

	// The SDK sends every text that is not given as an empty one.
	published := false
	after := must(ada.EditRelease("ada", "garden", made.ID, gitea.EditReleaseOption{IsDraft: &published}))
	equal(after.TagName+after.Title+after.Note, "beds/v1BedsSpring")
	recent(after.PublishedAt)
	equal(must(ben.GetRelease("ada", "garden", made.ID)).IsDraft, false)
	equal(must(ben.GetLatestRelease("ada", "garden")).ID, made.ID)
	equal(must(ben.GetReleaseByTag("ada", "garden", "beds/v1")).ID, made.ID)
	listed := must(ben.ListReleases("ada", "garden", gitea.ListReleasesOptions{}))
	equal(each(listed[0].Attachments, attachmentName), []string{"corn.txt"})
	files := must(ben.ListReleaseAttachments("ada", "garden", made.ID, gitea.ListReleaseAttachmentsOptions{}))
	equal(each(files, attachmentName), []string{"corn.txt"})
	equal(must(ben.GetReleaseAttachment("ada", "garden", made.ID, seeds.ID)).UUID, seeds.UUID)

	done(ada.DeleteReleaseAttachment("ada", "garden", made.ID, seeds.ID))
	done(ada.DeleteRelease("ada", "garden", made.ID))
	must(ada.CreateRelease("ada", "garden", gitea.CreateReleaseOption{TagName: "beds/v1", Title: "Beds"}))
	done(ada.DeleteReleaseByTag("ada", "garden", "beds/v1"))
	done(ada.DeleteTag("ada", "garden", "beds/v1"))
}
