/** The caller as statements take it that pick what he may see. */
export interface Viewer {
  /** 0 is nobody. */
  userId: number;
  /** A site administrator, with credentials that are not for public things only. */
  seesAll: boolean;
  publicOnly: boolean;
}
