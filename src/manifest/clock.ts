/** The first part of it. */
export function dateOf(time: string): string {
  return time.slice(0, "2026-11-18".length);
}

/** `2026-11-18`, in the local time zone. */
function localDate(now: Date): string {
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** `2026-11-18T07:30:00+01:00`, in the local time zone. */
export function localTime(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
  return `${localDate(now)}T${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}${zone}`;
}

const two = (number: number) => String(number).padStart(2, "0");
