/** Seconds as people write them: the two largest of hours, minutes and seconds that are not 0. */
export function durationText(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? '0s' : shown.map(([count, unit]) => `${count}${unit}`).join(' ');
}
