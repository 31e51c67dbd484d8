/** Fields of a side. */
const SIDE = 5;

/**
 * A picture of an account that has none of its own: an SVG of five by five fields, the same on both sides, in a colour of
 * its own. It says nothing but the number.
 */
export function drawAvatar(id: number): string {
  const bits = mix(id);
  const fields: string[] = [];
  for (let x = 0; x < SIDE; x++) {
    for (let y = 0; y < SIDE; y++) {
      const half = Math.min(x, SIDE - 1 - x);
      if ((bits >>> (half * SIDE + y)) & 1) fields.push(`M${x} ${y}h1v1h-1z`);
    }
  }
  const colour = `hsl(${mix(bits) % 360} 55% 45%)`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="290" height="290" viewBox="-1 -1 7 7" shape-rendering="crispEdges">`,
    `<path fill="#eee" d="M-1 -1h7v7h-7z"/><path fill="${colour}" d="${fields.join('')}"/></svg>`,
  ].join('');
}

/** Numbers that follow each other lead to ones that do not: the last steps of MurmurHash3. */
function mix(number: number): number {
  let hash = (number ^ 0x9e3779b9) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
