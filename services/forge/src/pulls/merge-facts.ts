/** What is known of a pull request besides its commits. */
export interface MergeFacts {
  /** Reviewers who approve officially: their latest word, not dismissed. */
  approvals: number;
  /** Those of them who saw the head as it is. */
  freshApprovals: number;
  /** Whether somebody officially asks for changes. */
  rejected: boolean;
  /** Whether somebody is officially asked for a review that is still to come. */
  asked: boolean;
  /** Whether something it depends on is open. */
  waits: boolean;
  /** The latest status of each context of the head. */
  statuses: readonly { context: string; state: string }[];
}
