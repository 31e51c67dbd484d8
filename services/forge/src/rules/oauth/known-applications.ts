/** Where a program on somebody's own machine listens for its answer, on a port that it gets when it starts. */
const LOOPBACK = ['http://127.0.0.1', 'https://127.0.0.1'];

/**
 * Programs that have one id at every forge of the reference's kind, so that nobody has to register them (the reference's
 * documentation, "OAuth2 provider", "Pre-configured applications").
 */
export const KNOWN_APPLICATIONS: readonly {
  clientId: string;
  name: string;
  redirectUris: readonly string[];
}[] = [
  {
    clientId: 'a4792ccc-144e-407e-86c9-5e7d8d9c3269',
    name: 'git-credential-oauth',
    redirectUris: LOOPBACK,
  },
  {
    clientId: 'e90ee53c-94e2-48ac-9358-a874fb9e0662',
    name: 'Git Credential Manager',
    redirectUris: LOOPBACK,
  },
  { clientId: 'd57cb8c4-630c-4168-8324-ec79935e18d4', name: 'tea', redirectUris: LOOPBACK },
];
