// Functions that page scripts share: elements, files of data, and a form's
// fields in the address.

const LONGEST = 120;

// An element of a class, or with some properties.
export const el = (tag, name, ...children) => {
  const node = document.createElement(tag);
  if (name) Object.assign(node, typeof name === "string" ? { className: name } : name);
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
};

export const link = (href, ...text) => el("a", { href }, ...text);

export const read = async (url, name = url) => {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`${name} answered ${reply.status}`);
  return reply.json();
};

// The address keeps only values that differ from a field's usual value.
export const remember = (form, names) => {
  const address = new URL(location);
  for (const name of names) {
    const { value, dataset } = form.elements.namedItem(name); // a field is named `length`
    if (value === (dataset.usual ?? "")) address.searchParams.delete(name);
    else address.searchParams.set(name, value.slice(0, LONGEST));
  }
  history.replaceState(history.state, "", address);
};

// Fill fields from the address; a list takes only values that it offers.
export const restore = (form, names) => {
  const found = new URLSearchParams(location.search);
  for (const field of names.map((name) => form.elements.namedItem(name))) {
    const value = found.get(field.name)?.slice(0, LONGEST) ?? null;
    if (value === null) continue;
    if (!field.options || [...field.options].some((each) => each.value === value))
      field.value = value;
  }
};
