// A link of a circular doubly linked list, embedded in what is listed; the list's head is a link
// too. Nothing is owned or allocated. One thread.
#pragma once

namespace cavalry::run {

class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;

  // Of a head: the list is empty. Of an element: it is in no list.
  bool alone() const { return next_ == this; }
  ListLink* next() const { return next_; }
  void Unlink() {
    next_->previous_ = previous_;
    previous_->next_ = next_;
    next_ = previous_ = this;
  }
  // REQUIRES: this one is alone. Before the head means at the end.
  void InsertBefore(ListLink* other) {
    next_ = other;
    previous_ = other->previous_;
    previous_->next_ = this;
    other->previous_ = this;
  }

 protected:
  ~ListLink() { Unlink(); }

 private:
  ListLink* next_ = this;
  ListLink* previous_ = this;
};

// The head of a list of T, which derives from ListLink.
template <typename T>
class List : private ListLink {
 public:
  ~List() {
    while (!empty()) next()->Unlink();
  }
  bool empty() const { return alone(); }
  void PushBack(T* element) { element->InsertBefore(this); }
  // REQUIRES: not empty.
  T* PopFront() {
    ListLink* const first = next();
    first->Unlink();
    return static_cast<T*>(first);
  }
};

}  // namespace cavalry::run
