/** Names that questions are furnished with. Lists only grow at their ends in new editions: draws depend on their length. */

export const fileNames: readonly string[] = [
  "report.txt",
  "notes.md",
  "budget.csv",
  "plan.txt",
  "todo.md",
  "photo.png",
  "draft.txt",
  "invoice.pdf",
  "agenda.md",
  "slides.odp",
  "readme.txt",
  "export.json",
  "letter.odt",
  "backup.tar",
  "menu.txt",
  "minutes.md",
];

export const folderNames: readonly string[] = [
  "Inbox",
  "Archive",
  "Shared",
  "Trash",
  "Projects",
  "Backup",
  "Drafts",
  "Clients",
  "Photos",
  "Reports",
  "Travel",
  "Invoices",
];

export const people: readonly string[] = [
  "Ada",
  "Boris",
  "Chen",
  "Dalia",
  "Edwin",
  "Farah",
  "Goran",
  "Hana",
  "Ivo",
  "Jana",
  "Karim",
  "Lena",
  "Mina",
  "Noor",
  "Otto",
  "Petra",
];

export const surnames: readonly string[] = [
  "Arden",
  "Bellamy",
  "Costa",
  "Duval",
  "Engel",
  "Fontane",
  "Grieg",
  "Holm",
];

export const plainWords: readonly string[] = [
  "amber",
  "basin",
  "cedar",
  "delta",
  "ember",
  "fjord",
  "grove",
  "haven",
  "inlet",
  "jetty",
  "knoll",
  "lagoon",
  "maple",
  "nectar",
  "orchid",
  "pebble",
  "quartz",
  "ridge",
  "shore",
  "tundra",
  "umber",
  "valley",
  "willow",
  "zephyr",
];

export const cities: readonly string[] = [
  "Lisbon",
  "Oslo",
  "Kyoto",
  "Quito",
  "Tunis",
  "Riga",
  "Perth",
  "Turin",
  "Accra",
  "Lima",
  "Split",
  "Bergen",
  "Izmir",
  "Porto",
  "Dakar",
  "Graz",
];

export const settings: readonly string[] = [
  "Wi-Fi",
  "Bluetooth",
  "Dark mode",
  "Auto-save",
  "Notifications",
  "Location",
  "Spell check",
  "Night light",
  "Sync",
  "Two-step login",
];

/** Events as a numbered list. */
export function numbered(events: readonly string[]): string {
  return events.map((event, at) => `${at + 1}. ${event}`).join("\n");
}
