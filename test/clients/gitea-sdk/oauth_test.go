package day

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"code.gitea.io/sdk/gitea"
	"golang.org/x/oauth2"
)

// Programs sign people in with the library that Woodpecker, tea and git-credential-oauth are made with.
func programs() {
	const redirect = "https://ci.example/authorize"
	program := must(ben.CreateOauth2(gitea.CreateOauth2Option{Name: "Woodpecker", ConfidentialClient: true, RedirectURIs: []string{redirect}}))
	recent(program.Created)
	equal(must(ben.GetOauth2(program.ID)).ClientID, program.ClientID)
	equal(len(must(ben.ListOauth2(gitea.ListOauth2Option{}))), 1)
	_, response, err := ada.GetOauth2(program.ID)
	refused(404, response, err)
	changed := must(ben.UpdateOauth2(program.ID, gitea.CreateOauth2Option{Name: "CI", ConfidentialClient: true, RedirectURIs: []string{redirect}}))
	check(changed.ClientSecret != program.ClientSecret && changed.Name == "CI", "no other secret")

	config := &oauth2.Config{
		ClientID: changed.ClientID, ClientSecret: changed.ClientSecret, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: address + "/login/oauth/authorize", TokenURL: address + "/login/oauth/access_token"},
	}
	token, err := config.Exchange(context.Background(), allowed(config.AuthCodeURL("state")))
	equal(err, nil)
	check(token.Valid() && token.Expiry.After(time.Now().Add(50*time.Minute)), "no token for an hour")
	equal(must(withToken(token).GetMyUserInfo()).UserName, "ada")
	// It has expired, so the library asks for another one.
	token.Expiry = time.Now().Add(-time.Minute)
	next, err := config.TokenSource(context.Background(), token).Token()
	equal(err, nil)
	check(next.AccessToken != token.AccessToken, "the same token")
	equal(must(withToken(next).GetMyUserInfo()).UserName, "ada")
	config.ClientSecret = program.ClientSecret
	_, err = config.Exchange(context.Background(), allowed(config.AuthCodeURL("state")))
	check(err != nil, "the old secret is taken")
	done(ben.DeleteOauth2(program.ID))
	_, response, err = withToken(next).GetMyUserInfo()
	refused(401, response, err)

	// As tea does it, which every forge knows: without a secret, on a port of this machine.
	verifier := oauth2.GenerateVerifier()
	tea := &oauth2.Config{
		ClientID: "d57cb8c4-630c-4168-8324-ec79935e18d4", RedirectURL: "http://127.0.0.1:41234/", Endpoint: config.Endpoint,
		Scopes: []string{"read:user", "write:repository"},
	}
	code := allowed(tea.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)))
	token, err = tea.Exchange(context.Background(), code, oauth2.VerifierOption(verifier))
	equal(err, nil)
	equal(must(withToken(token).GetMyUserInfo()).UserName, "ada")
	_, response, err = withToken(token).CreateOrg(gitea.CreateOrgOption{Name: "forbidden"})
	refused(403, response, err)
}

func withToken(token *oauth2.Token) *gitea.Client {
	made, err := gitea.NewClient(address, gitea.SetToken(token.AccessToken))
	equal(err, nil)
	return made
}

// allowed is the code that ada's browser brings back when she says yes.
func allowed(question string) string {
	asked, err := url.Parse(question)
	equal(err, nil)
	answers := asked.Query()
	answers.Set("user_name", "ada")
	answers.Set("password", accessToken("CROFT_ADA"))
	answers.Set("decision", "allow")
	page, err := http.Get(question)
	equal(err, nil)
	equal(page.StatusCode, 200)
	page.Body.Close()
	response, err := http.PostForm(address+"/login/oauth/grant", answers)
	equal(err, nil)
	defer response.Body.Close()
	equal(response.StatusCode, 200)
	onward, err := io.ReadAll(response.Body)
	equal(err, nil)
	link := regexp.MustCompile(`http-equiv="refresh" content="0;url=([^"]*)"`).FindSubmatch(onward)
	check(link != nil, "the page leads nowhere")
	target, err := url.Parse(html.UnescapeString(string(link[1])))
	equal(err, nil)
	equal(target.Query().Get("state"), "state")
	return target.Query().Get("code")
}
