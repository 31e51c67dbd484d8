import type { GivenFactor } from '../../store/import-factors.ts';
import { isEncrypted, type SourceRow, textOf, timeOf } from './fields.ts';
import type { Note } from './user.ts';

/**
 * What a factor comes to, and why nobody can prove it here, if so: its account asks for it all the same, for the password
 * alone was not enough there either.
 */
export interface FactorFrom {
  factor: GivenFactor;
  unprovable: string | undefined;
}

/**
 * A second factor; undefined for one that nobody has proven: those live for minutes, and stay behind.
 * @param seal seals the key of a TOTP factor for this service
 */
export function factorFrom(
  row: SourceRow,
  now: string,
  seal: (secret: string) => string,
  note: Note,
): FactorFrom | undefined {
  if (textOf(row, 'status') !== 'verified') {
    note('factors that were never verified: they can be enrolled again');
    return undefined;
  }
  const type = textOf(row, 'factor_type');
  const createdAt = timeOf(row, 'created_at') ?? now;
  const common = {
    id: textOf(row, 'id') ?? '',
    user_id: textOf(row, 'user_id') ?? '',
    friendly_name: textOf(row, 'friendly_name'),
    last_challenged_at: timeOf(row, 'last_challenged_at'),
    created_at: createdAt,
    updated_at: timeOf(row, 'updated_at') ?? createdAt,
  };
  const nothing = { ...common, phone: null, secret: null };
  if (type === 'phone') {
    const phone = textOf(row, 'phone')?.replace(/^\+/, '') ?? null;
    const unprovable = phone === null || phone === '' ? 'it has no number' : undefined;
    return { factor: { ...nothing, factor_type: type, phone: phone === '' ? null : phone }, unprovable };
  }
  if (type !== 'totp') {
    const unprovable = `${type ?? 'unknown'} factors cannot be proven here`;
    return { factor: { ...nothing, factor_type: 'webauthn' }, unprovable };
  }
  const stored = textOf(row, 'secret');
  const factor: GivenFactor = { ...nothing, factor_type: type };
  if (isEncrypted(stored)) return { factor, unprovable: 'GoTrue encrypted its key (DB_ENCRYPTION)' };
  const secret = (stored ?? '').toUpperCase().replace(/[ =]/g, '');
  if (!/^[A-Z2-7]{16,}$/.test(secret)) return { factor, unprovable: 'its key cannot be read' };
  return { factor: { ...factor, secret: seal(secret) }, unprovable: undefined };
}
