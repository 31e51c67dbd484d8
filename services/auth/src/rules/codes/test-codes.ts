/** Numbers of testers with the code each always has: `SMS_TEST_OTP` and `SMS_TEST_OTP_VALID_UNTIL`. */
export interface TestCodes {
  /** By number, as numbers are stored. */
  codes: ReadonlyMap<string, string>;
  /** Undefined means for ever. */
  validUntil: Date | undefined;
}

/** The code a number always has, if it is a tester's; nothing is ever sent to it then. */
export function testCodeOf(phone: string, { codes, validUntil }: TestCodes, now: Date): string | undefined {
  if (validUntil !== undefined && now.getTime() >= validUntil.getTime()) return undefined;
  return codes.get(phone);
}
