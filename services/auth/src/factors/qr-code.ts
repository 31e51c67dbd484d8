/**
 * A text as a QR code: an SVG in black and white. There is no `#` in it, so that it can stand in a data URI as it is, as
 * clients put it there.
 */
export async function qrCode(text: string): Promise<string> {
  // With the first factor that is enrolled, not with the start.
  const { default: qrcode } = await import('qrcode-generator');
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  return code.createSvgTag({ cellSize: 4, margin: 16, scalable: true });
}
