/** `2026-11-18T07:30:00+01:00`, in the local time zone. */
export function localTime(now = new Date()): string {
  const minutes = -now.getTimezoneOffset();
  const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return `${date}T${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}${zone}`;
}

const two = (number: number) => String(number).padStart(2, "0");
