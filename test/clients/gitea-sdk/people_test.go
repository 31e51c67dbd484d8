package day

import (
	"slices"
	"strings"

	"code.gitea.io/sdk/gitea"
)

func server() {
	check(strings.Contains(must(ada.ServerVersion()), "+croft."), "not Croft")
	if err := ada.CheckServerVersionConstraint(">= 1.24.0"); err != nil {
		current.Fatal(err)
	}
	equal(must(ada.GetGlobalAPISettings()).MaxResponseItems, 50)
	equal(must(ada.GetGlobalAttachmentSettings()).Enabled, true)
	equal(must(ada.GetGlobalRepoSettings()).MirrorsDisabled, true)
	check(slices.Contains(must(ada.GetGlobalUISettings()).AllowedReactions, "heart"), "no heart")
	check(strings.HasPrefix(must(ada.GetSigningKeySSH()), "ssh-"), "no key that signs")
	check(slices.Contains(must(ada.ListGitignoresTemplates()), "Node"), "no Node")
	check(strings.Contains(must(ada.GetGitignoreTemplateInfo("Node")).Source, "node_modules"), "not for Node")
	check(slices.Contains(must(ada.ListLabelTemplates()), "Default"), "no labels to begin with")
	check(len(must(ada.GetLabelTemplate("Default"))) > 0, "a set without labels")
	check(len(must(ada.ListLicenseTemplates())) > 0, "no licences")
	check(strings.Contains(must(ada.GetLicenseTemplateInfo("MIT")).Body, "WITHOUT WARRANTY"), "not the MIT licence")
}

func accounts() {
	for _, who := range []*gitea.Client{ada, ben, root} {
		me := must(who.GetMyUserInfo())
		equal(me.Email, me.UserName+"@example.test")
		equal(me.IsAdmin, me.UserName == "root")
		recent(me.Created)
		equal(must(ada.GetUserByID(me.ID)).UserName, me.UserName)
	}
	_, response, err := ada.GetUserInfo("nobody")
	refused(404, response, err)

	// A person's own token, made with the name and what signs in for the password, as tea does it.
	withPassword, err := gitea.NewClient(address, noting, gitea.SetBasicAuth("ada", accessToken("CROFT_ADA")))
	equal(err, nil)
	made := must(withPassword.CreateAccessToken(gitea.CreateAccessTokenOption{
		Name: "laptop", Scopes: []gitea.AccessTokenScope{gitea.AccessTokenScopeAll},
	}))
	equal(len(made.Token), 40)
	listed := must(withPassword.ListAccessTokens(gitea.ListAccessTokensOptions{}))
	equal(each(listed, func(t *gitea.AccessToken) string { return t.Name + t.TokenLastEight }), []string{"laptop" + made.Token[32:]})
	withToken, err := gitea.NewClient(address, noting, gitea.SetBasicAuth("ada", made.Token))
	equal(err, nil)
	equal(must(withToken.GetMyUserInfo()).UserName, "ada")
	done(withPassword.DeleteAccessToken("laptop"))
	_, response, err = withToken.GetMyUserInfo()
	refused(401, response, err)

	name := "Ada Lovelace"
	equal(must(ada.UpdateUserSettings(gitea.UserSettingsOptions{FullName: &name})).FullName, name)
	equal(must(ada.GetUserSettings()).FullName, name)
	equal(must(ben.GetUserInfo("ada")).FullName, name)
	done(ben.Follow("ada"))
	follows, _ := ben.IsFollowing("ada")
	known, _ := ada.IsUserFollowing("ben", "ada")
	check(follows && known, "ben does not follow ada")
	equal(each(must(ada.ListMyFollowers(gitea.ListFollowersOptions{})), login), []string{"ben"})
	equal(each(must(ben.ListFollowers("ada", gitea.ListFollowersOptions{})), login), []string{"ben"})
	equal(each(must(ben.ListMyFollowing(gitea.ListFollowingOptions{})), login), []string{"ada"})
	equal(each(must(ada.ListFollowing("ben", gitea.ListFollowingOptions{})), login), []string{"ada"})
	done(ben.Unfollow("ada"))
	follows, _ = ben.IsFollowing("ada")
	check(!follows, "ben still follows ada")

	equal(each(must(ben.SearchUsers(gitea.SearchUsersOption{KeyWord: "ad"})), login), []string{"ada"})
	equal(each(must(ada.ListEmails(gitea.ListEmailsOptions{})), func(e *gitea.Email) bool { return e.Primary && e.Verified }), []bool{true})
	equal(len(must(ada.ListMyPublicKeys(gitea.ListPublicKeysOptions{}))), 0)
	equal(len(must(ada.ListPublicKeys("ben", gitea.ListPublicKeysOptions{}))), 0)
	equal(len(must(ada.ListMyGPGKeys(&gitea.ListGPGKeysOptions{}))), 0)
	equal(len(must(ada.ListGPGKeys("ben", gitea.ListGPGKeysOptions{}))), 0)
	equal(sorted(each(must(root.AdminListUsers(gitea.AdminListUsersOptions{})), login)), []string{"ada", "ben", "root"})
}

func orgName(org *gitea.Organization) string { return org.UserName }

func organizations() {
	made := must(ada.CreateOrg(gitea.CreateOrgOption{Name: "guild", FullName: "The Guild", Visibility: gitea.VisibleTypePublic}))
	equal(made.UserName+made.FullName+made.Visibility, "guildThe Guildpublic")
	done(ada.EditOrg("guild", gitea.EditOrgOption{Description: "of makers"}))
	equal(must(ben.GetOrg("guild")).Description, "of makers")
	must(root.AdminCreateOrg("ben", gitea.CreateOrgOption{Name: "club"}))
	done(ben.RenameOrg("club", gitea.RenameOrgOption{NewName: "society"}))
	both := []string{"guild", "society"}
	equal(sorted(each(must(ada.ListOrgs(gitea.ListOrgsOptions{})), orgName)), both)
	equal(sorted(each(must(root.AdminListOrgs(gitea.AdminListOrgsOptions{})), orgName)), both)
	equal(each(must(ada.ListMyOrgs(gitea.ListOrgsOptions{})), orgName), both[:1])
	equal(each(must(ada.ListUserOrgs("ada", gitea.ListOrgsOptions{})), orgName), both[:1])
	check(must(ada.GetOrgPermissions("guild", "ada")).IsOwner, "no owner")
	done(ben.DeleteOrg("society"))

	label := must(ada.CreateOrgLabel("guild", gitea.CreateOrgLabelOption{Name: "everywhere", Color: "#00aabb"}))
	equal(label.Color, "00aabb")
	text := "in all"
	equal(must(ada.EditOrgLabel("guild", label.ID, gitea.EditOrgLabelOption{Description: &text})).Description, text)
	equal(must(ben.GetOrgLabel("guild", label.ID)).Description, text)
	equal(each(must(ben.ListOrgLabels("guild", gitea.ListOrgLabelsOptions{})), labelName), []string{"everywhere"})
	done(ada.DeleteOrgLabel("guild", label.ID))
}

func teamName(team *gitea.Team) string { return team.Name }

func teams() {
	made := must(ada.CreateTeam("guild", gitea.CreateTeamOption{
		Name: "smiths", Permission: gitea.AccessModeWrite,
		Units: []gitea.RepoUnitType{gitea.RepoUnitCode, gitea.RepoUnitIssues, gitea.RepoUnitPulls},
	}))
	equal(made.Permission, gitea.AccessModeWrite)
	yes := true
	done(ada.EditTeam(made.ID, gitea.EditTeamOption{Name: "smiths", Permission: gitea.AccessModeWrite, CanCreateOrgRepo: &yes}))
	check(must(ada.GetTeam(made.ID)).CanCreateOrgRepo, "cannot create repositories")
	equal(sorted(each(must(ada.ListOrgTeams("guild", gitea.ListTeamsOptions{})), teamName)), []string{"Owners", "smiths"})
	equal(each(must(ada.SearchOrgTeams("guild", &gitea.SearchTeamsOptions{Query: "smi"})), teamName), []string{"smiths"})
	done(ada.AddTeamMember(made.ID, "ben"))
	equal(must(ada.GetTeamMember(made.ID, "ben")).UserName, "ben")
	equal(each(must(ada.ListTeamMembers(made.ID, gitea.ListTeamMembersOptions{})), login), []string{"ben"})
	equal(each(must(ben.ListMyTeams(&gitea.ListTeamsOptions{})), teamName), []string{"smiths"})

	equal(sorted(each(must(ada.ListOrgMembership("guild", gitea.ListOrgMembershipOption{})), login)), []string{"ada", "ben"})
	check(must(ada.CheckOrgMembership("guild", "ben")), "ben is no member")
	done(ben.SetPublicOrgMembership("guild", "ben", true))
	check(must(root.CheckPublicOrgMembership("guild", "ben")), "ben is not shown")
	equal(each(must(root.ListPublicOrgMembership("guild", gitea.ListOrgMembershipOption{})), login), []string{"ben"})
	done(ben.SetPublicOrgMembership("guild", "ben", false))
	check(!must(root.CheckPublicOrgMembership("guild", "ben")), "ben is shown")

	must(ada.CreateOrgRepo("guild", gitea.CreateRepoOption{Name: "forge", AutoInit: true}))
	equal(each(must(ada.ListOrgRepos("guild", gitea.ListOrgReposOptions{})), fullName), []string{"guild/forge"})
	done(ada.AddTeamRepository(made.ID, "guild", "forge"))
	equal(each(must(ada.ListTeamRepositories(made.ID, gitea.ListTeamRepositoriesOptions{})), fullName), []string{"guild/forge"})
	equal(must(ada.GetTeamRepository(made.ID, "guild", "forge")).FullName, "guild/forge")
	done(ada.RemoveTeamRepository(made.ID, "guild", "forge"))
	done(ada.AddRepoTeam("guild", "forge", "smiths"))
	equal(must(ada.CheckRepoTeam("guild", "forge", "smiths")).Name, "smiths")
	equal(sorted(each(must(ada.GetRepoTeams("guild", "forge")), teamName)), []string{"Owners", "smiths"})
	done(ada.RemoveRepoTeam("guild", "forge", "smiths"))

	done(ada.RemoveTeamMember(made.ID, "ben"))
	done(ada.AddTeamMember(made.ID, "ben"))
	done(ada.DeleteOrgMembership("guild", "ben"))
	check(!must(ada.CheckOrgMembership("guild", "ben")), "ben is still a member")
	done(ada.DeleteTeam(made.ID))
}
