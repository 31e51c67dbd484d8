/** The two programs of git's smart protocol. */
export type GitService = 'git-upload-pack' | 'git-receive-pack';

/**
 * The value for GIT_PROTOCOL that a `Git-Protocol` header asks for; undefined when it asks for nothing we would pass
 * on. Pushing has no version 2, so asking for it there means version 0.
 */
export function readProtocol(service: GitService, header: string | string[] | undefined): string | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  if (value === undefined || !/^version=[0-2](:[a-z0-9=.-]+)*$/.test(value) || value.length > 100)
    return undefined;
  return service === 'git-receive-pack' && speaksVersion2(value) ? undefined : value;
}

/** Whether the client wants version 2 of the protocol. */
export function speaksVersion2(protocol: string | undefined): boolean {
  return protocol?.split(':').includes('version=2') ?? false;
}
