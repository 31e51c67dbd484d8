import { Failure } from '@croft/failure';

const MAX_TOPICS = 25;

/** What a repository is filed under: lower case, digits, `-` and `.` inside, at most 35 characters. */
const isTopic = (text: string): boolean => /^[a-z0-9][a-z0-9.-]{0,34}$/.test(text);

/**
 * Topics as they are kept: trimmed, in lower case, each once, in order.
 * @throws 422 that names those that are none, and when there are too many
 */
export function readTopics(wanted: readonly string[]): string[] {
  const topics = [
    ...new Set(wanted.map((topic) => topic.trim().toLowerCase()).filter((topic) => topic !== '')),
  ];
  const invalid = topics.filter((topic) => !isTopic(topic));
  if (invalid.length > 0) throw refusal('Topic names are invalid', invalid.slice(0, MAX_TOPICS));
  if (topics.length > MAX_TOPICS) throw refusal('Exceeding maximum number of topics per repo', []);
  return topics.toSorted();
}

const refusal = (message: string, invalidTopics: readonly string[]) =>
  new Failure('unprocessable', 'invalid_topics', message, { body: { invalidTopics } });
