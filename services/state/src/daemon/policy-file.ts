import { readPolicyFile } from '../outside/read-policy-file.ts';
import type { Policy } from '../rules/states/policy.ts';

/** The policy that is in force, and the file it comes from. */
export class PolicyFile {
  readonly path: string;
  #policy: Policy;

  private constructor(path: string, policy: Policy) {
    this.path = path;
    this.#policy = policy;
  }

  /** @throws INVALID_ARGUMENT with line numbers */
  static async open(path: string): Promise<PolicyFile> {
    return new PolicyFile(path, await readPolicyFile(path));
  }

  get policy(): Policy {
    return this.#policy;
  }

  /** Reads the file again. When it is wrong, the policy stays as it was. @throws INVALID_ARGUMENT with line numbers */
  async reload(): Promise<void> {
    this.#policy = await readPolicyFile(this.path);
  }
}
