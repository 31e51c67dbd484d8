/** An open pull request as far as stacks depend on it. */
export interface StackMember {
  id: number;
  number: number;
  base_branch: string;
  /** Its head branch where that is in the repository that it goes to; else nothing can stand on it. */
  own_head: string | null;
}
