/** Addresses of things, as answers carry them. */
export class Links {
  #root: string;
  #host: string | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Public address of the forge, without a trailing slash; known for certain once the service listens. */
  get root(): string {
    return this.#root;
  }

  set root(root: string) {
    this.#root = root;
    this.#host = undefined;
  }

  /** Path of the public address, without a trailing slash: empty unless a proxy serves the forge below one. */
  get path(): string {
    return new URL(this.#root).pathname.replace(/\/+$/, '');
  }

  /** Host name, for addresses that must not lead anywhere. */
  get host(): string {
    // Asked for in every row of a list, and only once the address is known.
    this.#host ??= new URL(this.#root).hostname;
    return this.#host;
  }

  /** Something below the API. */
  api(path: string): string {
    return `${this.root}${API_PREFIX}${path}`;
  }

  /** Page of an account. */
  user(login: string): string {
    return `${this.root}/${login}`;
  }

  /** Picture of an account, also of an organization. */
  avatar(id: number): string {
    return `${this.root}/avatars/${id}`;
  }

  /** Page of a repository; with `.git` it is the address to clone from. */
  repository(owner: string, name: string): string {
    return `${this.root}/${owner}/${name}`;
  }

  /** Description of the API, the `url` of every error. */
  get documentation(): string {
    return this.api('/openapi.json');
  }
}

/** Every path of the API starts with it. */
export const API_PREFIX = '/api/v1';
