import type { GivenFactor } from '../../store/import-factors.ts';
import { isEncrypted, type SourceRow, textOf, timeOf } from './fields.ts';
import type { Note } from './user.ts';

/** What a factor comes to: one to be made, or why its owner is left without; undefined for one nobody has proven. */
export type FactorFrom = { factor: GivenFactor } | { lost: string } | undefined;

/**
 * A second factor. Those that nobody has proven live for minutes, and stay behind.
 * @param seal seals the key of a TOTP factor for this service
 */
export function factorFrom(
  row: SourceRow,
  now: string,
  seal: (secret: string) => string,
  note: Note,
): FactorFrom {
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
  if (type === 'phone') {
    const phone = textOf(row, 'phone')?.replace(/^\+/, '') ?? '';
    if (phone === '') return { lost: 'it has no number' };
    return { factor: { ...common, factor_type: type, phone, secret: null } };
  }
  if (type !== 'totp') return { lost: `${type ?? 'unknown'} factors are not known here` };
  const stored = textOf(row, 'secret');
  if (isEncrypted(stored)) return { lost: 'GoTrue encrypted its key (DB_ENCRYPTION)' };
  const secret = (stored ?? '').toUpperCase().replace(/[ =]/g, '');
  if (!/^[A-Z2-7]{16,}$/.test(secret)) return { lost: 'its key cannot be read' };
  return { factor: { ...common, factor_type: type, phone: null, secret: seal(secret) } };
}
